import { Input, JsonInput, SegmentedControl, TextInput } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { fieldProps, valueOrDefault } from "./fieldProps";

const WAYS = ["earliest", "latest", "timestamp", "offsets"] as const;
type Way = (typeof WAYS)[number];

/** Where a first run begins to read: an end of the topic, a moment, or offsets. */
export function StartWidget(props: WidgetProps) {
  const { t } = useTranslation();
  const { id, label, description, error } = fieldProps(props);
  const value = valueOrDefault(props);
  const way = wayOf(value);
  const [offsets, setOffsets] = useState(() =>
    way === "offsets" ? JSON.stringify((value as { offsets: unknown }).offsets) : "",
  );
  function choose(next: Way) {
    if (next === "timestamp") props.onChange({ timestamp: "" });
    else if (next === "offsets") props.onChange({ offsets: {} });
    else props.onChange(next);
  }
  return (
    <Input.Wrapper
      id={id}
      label={label}
      description={description}
      error={error}
      size="xs"
      labelElement="div"
    >
      <SegmentedControl
        aria-label={label}
        data={WAYS.map((w) => ({ value: w, label: t(`start.${w}`) }))}
        value={way}
        onChange={(next) => choose(next as Way)}
        mt={2}
        style={{ display: "flex", width: "fit-content" }}
      />
      {way === "timestamp" && (
        <TextInput
          mt={6}
          aria-label={t("start.timestamp")}
          placeholder="2026-01-31T08:00:00Z"
          value={(value as { timestamp?: string }).timestamp ?? ""}
          onChange={(event) => props.onChange({ timestamp: event.currentTarget.value })}
        />
      )}
      {way === "offsets" && (
        <JsonInput
          mt={6}
          size="xs"
          aria-label={t("start.offsets")}
          placeholder='{"page-views": {"0": 1200, "1": -1}}'
          value={offsets}
          onChange={(text) => {
            setOffsets(text);
            const read = readObject(text);
            if (read) props.onChange({ offsets: read });
          }}
          validationError={t("start.notJson")}
          autosize
        />
      )}
    </Input.Wrapper>
  );
}

function wayOf(value: unknown): Way {
  if (typeof value === "object" && value !== null)
    return "offsets" in value ? "offsets" : "timestamp";
  return value === "latest" ? "latest" : "earliest";
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}
