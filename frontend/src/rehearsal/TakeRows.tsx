import {
  Group,
  Modal,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { sampleTopic } from "../api/client";
import type { Step } from "../api/graph";
import type { Rows } from "../api/types";
import { useConnections, useTopics } from "../connections/useConnections";
import { ResultRows } from "./ResultRows";
import { TakeOver } from "./TakeOver";

const FORMATS = ["json", "csv", "text", "bytes"] as const;
const MOST = 1_000;

interface Props {
  step: Step;
  title: string;
  there: number;
  onRows: (rows: Rows, replace: boolean) => void;
  onClose: () => void;
}

/** Records of a source's topic as its rows: the newest, or the first from a time on. */
export function TakeRows({ step, title, there, onRows, onClose }: Props) {
  const { t } = useTranslation();
  const { data: connections } = useConnections();
  const connection = connections?.items.find(({ name }) => name === step.config.connection);
  const named = topicsToTake(step) ?? [];
  const listed = useTopics(named.length === 0 ? connection?.id : undefined);
  const topics = named.length > 0 ? named : (listed.data?.items ?? []).map(({ topic }) => topic);
  const [chosen, setChosen] = useState<string | null>(named[0] ?? null);
  const [from, setFrom] = useState<"newest" | "time">("newest");
  const [limit, setLimit] = useState(20);
  const [time, setTime] = useState("");
  const since = from === "time" ? isoOf(time) : undefined;
  const [asked] = useDebouncedValue(limit, 300);
  const format = FORMATS.find((one) => one === step.config.format) ?? "json";
  const missing = from === "time" && since === undefined;
  const sample = useQuery({
    queryKey: ["sample", connection?.id, chosen, asked, since],
    queryFn: ({ signal }) =>
      sampleTopic({
        path: { connection_id: connection?.id ?? "", topic: chosen ?? "" },
        query: { limit: asked, since, format },
        signal,
      }),
    enabled: connection !== undefined && chosen !== null && !missing,
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const records = (!missing && sample.data?.records) || [];

  return (
    <Modal opened onClose={onClose} title={t("rehearsal.takeTitle", { source: title })} size="xl">
      <Stack gap="sm">
        <Group gap="xs" align="end">
          <Select
            label={t("form.topic")}
            data={topics}
            value={chosen}
            onChange={setChosen}
            searchable
            allowDeselect={false}
          />
          <SegmentedControl
            aria-label={t("rehearsal.from")}
            data={[
              { value: "newest", label: t("rehearsal.newest") },
              { value: "time", label: t("rehearsal.fromTime") },
            ]}
            value={from}
            onChange={(next) => setFrom(next as "newest" | "time")}
          />
          <NumberInput
            label={t("rehearsal.howMany")}
            w={90}
            min={1}
            max={MOST}
            clampBehavior="strict"
            value={limit}
            onChange={(next) => typeof next === "number" && next > 0 && setLimit(next)}
          />
          {from === "time" && (
            <TextInput
              type="datetime-local"
              step={1}
              label={t("rehearsal.time")}
              value={time}
              onChange={(event) => setTime(event.currentTarget.value)}
            />
          )}
        </Group>
        <div aria-live="polite">
          {connections && !connection && (
            <Text size="xs" c="var(--hr-bad)">
              {t("rehearsal.noConnection")}
            </Text>
          )}
          {sample.error && (
            <Text size="xs" c="var(--hr-bad)" role="alert">
              {sample.error.message}
            </Text>
          )}
          {sample.isFetching && (
            <Text size="xs" c="dimmed">
              {t("rehearsal.reading")}
            </Text>
          )}
          {sample.data && !sample.isFetching && records.length === 0 && (
            <Text size="xs" c="dimmed">
              {t(from === "time" ? "rehearsal.noneSince" : "rehearsal.noneThere")}
            </Text>
          )}
        </div>
        {records.length > 0 && (
          <div style={{ maxHeight: 320, overflow: "auto" }}>
            <ResultRows rows={records} label={t("rehearsal.preview")} />
          </div>
        )}
        <TakeOver rows={records} there={there} onRows={onRows} onClose={onClose} />
      </Stack>
    </Modal>
  );
}

/** The topics a source names; empty where it names a pattern, null where it reads none. */
export function topicsToTake(step: Step): string[] | null {
  if (typeof step.config.connection !== "string") return null;
  const { topics } = step.config;
  return Array.isArray(topics) ? topics.filter((topic) => typeof topic === "string") : [];
}

/** A moment of this browser's clock as the API takes it; undefined where it is none. */
export function isoOf(local: string): string | undefined {
  const moment = new Date(local);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
