import { Input } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { type ReactNode, Suspense } from "react";
import styles from "../StepForm.module.css";
import { fieldProps } from "./fieldProps";

interface Props {
  field: WidgetProps;
  /** How much room the editor takes before it has any text. */
  size: "line" | "tall" | "code";
  children: ReactNode;
}

const HEIGHTS = { line: 27, tall: 92, code: 200 };

/** Label, help, border and error around an editor that is loaded when it is needed. */
export function EditorFrame({ field, size, children }: Props) {
  const { id, label, description, error, withAsterisk } = fieldProps(field);
  return (
    <Input.Wrapper
      id={id}
      label={label}
      description={description}
      descriptionProps={{ mb: 4 }}
      error={error}
      withAsterisk={withAsterisk}
      size="xs"
      labelElement="div"
    >
      <div
        className={styles.editor}
        data-invalid={error !== undefined}
        data-tall={size === "tall"}
        data-code={size === "code"}
      >
        <Suspense fallback={<div style={{ height: HEIGHTS[size] }} />}>{children}</Suspense>
      </div>
    </Input.Wrapper>
  );
}

/** What every editor takes from its field. */
export function editorProps(field: WidgetProps) {
  const { id, label, error, "aria-label": aria } = fieldProps(field);
  return {
    id,
    label: aria ?? label ?? "",
    value: String(field.value ?? ""),
    invalid: error !== undefined,
    sentences: field.rawErrors ?? [],
    onChange: (next: string) => field.onChange(next || undefined),
  };
}
