import {
  NativeSelect,
  NumberInput,
  SegmentedControl,
  Stack,
  Table,
  Text,
  TextInput,
} from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { listTopics } from "../api/client";
import type { Graph } from "../api/graph";
import { useConnections } from "../connections/useConnections";
import {
  type Chosen,
  END,
  FIRST,
  type Offsets,
  partitionsOf,
  type SourceTopics,
  type Start,
  sourceTopics,
  startOf,
  type Way,
} from "./start";

/** What a form that asks where to begin holds, and what it amounts to. */
export function useStart(graph: Graph, first: Way) {
  const [chosen, setChosen] = useState<Chosen>({ way: first, time: "", offsets: {} });
  const sources = useMemo(() => sourceTopics(graph), [graph]);
  const { partitions, asking, error } = usePartitions(sources, chosen.way === "offsets");
  const start: Start | undefined | null = startOf(chosen, partitions);
  return { chosen, setChosen, partitions, asking, error, start };
}

interface Props extends Pick<ReturnType<typeof useStart>, "chosen" | "setChosen" | "partitions"> {
  ways: readonly Way[];
  label: string;
  help: string;
  asking: boolean;
  error: Error | null;
}

/** Where to begin to read: an end of the topics, a moment, or an offset of each partition. */
export function StartChoice(props: Props) {
  const { ways, label, help, chosen, setChosen, partitions, asking, error } = props;
  const { t } = useTranslation();
  const id = useId();
  return (
    <div>
      <Text size="xs" fw={500} id={id}>
        {label}
      </Text>
      <SegmentedControl
        aria-labelledby={id}
        data={ways.map((value) => ({ value, label: t(`begin.${value}`) }))}
        value={chosen.way}
        onChange={(way) => setChosen({ ...chosen, way: way as Way })}
        mt={2}
      />
      {chosen.way === "timestamp" && (
        <TextInput
          mt={6}
          w={220}
          type="datetime-local"
          step={1}
          required
          label={t("begin.time")}
          value={chosen.time}
          onChange={(event) => setChosen({ ...chosen, time: event.currentTarget.value })}
        />
      )}
      {chosen.way === "offsets" && (
        <Stack gap={4} mt={6} aria-live="polite">
          {error && (
            <Text size="xs" c="var(--hr-bad)" role="alert">
              {error.message}
            </Text>
          )}
          {partitions.size === 0 && !error && (
            <Text size="xs" c="dimmed">
              {t(asking ? "begin.asking" : "begin.noTopics")}
            </Text>
          )}
          {partitions.size > 0 && (
            <OffsetsTable
              partitions={partitions}
              offsets={chosen.offsets}
              onOffsets={(offsets) => setChosen({ ...chosen, offsets })}
            />
          )}
        </Stack>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {help}
      </Text>
    </div>
  );
}

interface OffsetsProps {
  partitions: Map<string, number>;
  offsets: Offsets;
  onOffsets: (offsets: Offsets) => void;
}

function OffsetsTable({ partitions, offsets, onOffsets }: OffsetsProps) {
  const { t } = useTranslation();
  const rows = [...partitions].flatMap(([topic, count]) =>
    Array.from({ length: count }, (_, n) => ({ topic, partition: String(n) })),
  );
  const put = (topic: string, partition: string, offset: number) =>
    onOffsets({ ...offsets, [topic]: { ...offsets[topic], [partition]: offset } });
  return (
    <section
      aria-label={t("begin.offsets")}
      style={{ maxHeight: 220, overflow: "auto" }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
    >
      <Table fz="xs" verticalSpacing={3} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("begin.topic")}</Table.Th>
            <Table.Th>{t("begin.partition")}</Table.Th>
            <Table.Th>{t("begin.at")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ topic, partition }) => {
            const offset = offsets[topic]?.[partition] ?? FIRST;
            const of = { topic, partition };
            return (
              <Table.Tr key={`${topic} ${partition}`}>
                <Table.Td>{topic}</Table.Td>
                <Table.Td>{partition}</Table.Td>
                <Table.Td style={{ display: "flex", gap: 6 }}>
                  <NativeSelect
                    size="xs"
                    aria-label={t("begin.placeOf", of)}
                    data={[
                      { value: String(FIRST), label: t("begin.earliest") },
                      { value: String(END), label: t("begin.latest") },
                      { value: "0", label: t("begin.offset") },
                    ]}
                    value={String(Math.min(offset, 0))}
                    onChange={(event) => put(topic, partition, Number(event.currentTarget.value))}
                  />
                  {offset >= 0 && (
                    <NumberInput
                      w={130}
                      aria-label={t("begin.offsetOf", of)}
                      min={0}
                      allowDecimal={false}
                      allowNegative={false}
                      value={offset}
                      onChange={(next) => put(topic, partition, Number(next) || 0)}
                    />
                  )}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** The partitions of the topics that sources read, asked for only once somebody wants them. */
function usePartitions(sources: SourceTopics[], wanted: boolean) {
  const { data: connections } = useConnections();
  const names = [...new Set(sources.map(({ connection }) => connection))];
  const asked = names.map((name) => ({
    name,
    id: connections?.items.find((connection) => connection.name === name)?.id,
  }));
  const answers = useQueries({
    queries: asked.map(({ id }) => ({
      queryKey: ["connections", id, "topics"],
      queryFn: () => listTopics({ path: { connection_id: id ?? "" } }),
      enabled: wanted && id !== undefined,
      staleTime: 15_000,
      retry: false,
    })),
  });
  const known = Object.fromEntries(
    asked.map(({ name }, i) => [name, answers[i]?.data?.items ?? []] as const),
  );
  return {
    partitions: partitionsOf(sources, known),
    asking: answers.some(({ isFetching }) => isFetching),
    error: answers.find(({ error }) => error)?.error ?? null,
  };
}
