import { Highlight, SegmentedControl, Select, Skeleton, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { getLogs } from "../api/client";
import type { Deployment } from "../api/types";
import styles from "./DeploymentPage.module.css";
import { LEVELS, type Level, logEntries, matching } from "./logEntries";

const REFRESH_MS = 3_000;
const MOST = 2_000;

interface Props {
  deployment: Deployment;
  /** Which run's log; null follows the newest. */
  epoch: number | null;
  onEpoch: (epoch: number | null) => void;
}

/** The last lines that a run has written, as bad as wanted and with the words that are sought. */
export function LogsTab({ deployment, epoch, onEpoch }: Props) {
  const { t } = useTranslation();
  const [level, setLevel] = useState<Level>("all");
  const [search, setSearch] = useState("");
  const [words] = useDebouncedValue(search, 150);
  const { runs } = deployment;
  const shown = epoch ?? runs[0]?.epoch;
  const writes = runs.some((run) => run.epoch === shown && run.ended_at === null);
  const logs = useQuery({
    queryKey: ["logs", deployment.id, shown],
    queryFn: () =>
      getLogs({
        path: { deployment_id: deployment.id },
        query: { epoch: shown, lines: MOST },
      }),
    enabled: shown !== undefined,
    refetchInterval: writes ? REFRESH_MS : false,
  });
  const lines = useDeferredValue(logs.data?.lines);
  const entries = useMemo(() => logEntries(lines ?? []), [lines]);
  const found = useMemo(() => matching(entries, level, words), [entries, level, words]);

  if (shown === undefined) return <Text c="dimmed">{t("runs.none")}</Text>;
  return (
    <div className={styles.logs}>
      <div className={styles.tools}>
        <Select
          aria-label={t("logs.ofRun")}
          w={190}
          allowDeselect={false}
          data={runs.map((run, i) => ({
            value: String(run.epoch),
            label: `${t("logs.run", { epoch: run.epoch })}${i === 0 ? ` · ${t("logs.newest")}` : ""}`,
          }))}
          value={String(shown)}
          onChange={(value) => onEpoch(value === String(runs[0]?.epoch) ? null : Number(value))}
        />
        <SegmentedControl
          aria-label={t("logs.level")}
          data={LEVELS.map((value) => ({ value, label: t(`logs.${value}`) }))}
          value={level}
          onChange={(value) => setLevel(value as Level)}
        />
        <TextInput
          type="search"
          w={220}
          aria-label={t("logs.search")}
          placeholder={t("logs.search")}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Text size="xs" c="dimmed" role="status">
          {logs.data &&
            (found.length === entries.length
              ? logs.data.truncated && t("logs.truncated")
              : t("logs.found", { count: found.length, all: entries.length }))}
        </Text>
      </div>
      {logs.error && !logs.data && <p role="alert">{logs.error.message}</p>}
      {logs.isPending && <Skeleton h={80} />}
      {logs.data && found.length === 0 && (
        <Text c="dimmed">{t(entries.length === 0 ? "logs.none" : "logs.noMatch")}</Text>
      )}
      {found.length > 0 && (
        <section
          className={styles.log}
          aria-label={t("logs.run", { epoch: shown })}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
          tabIndex={0}
        >
          <div>
            {found.map((entry, i) => (
              <Highlight
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of a log have no name
                key={i}
                component="pre"
                className={styles.entry}
                data-level={entry.level}
                highlight={words.trim()}
              >
                {entry.lines.join("\n")}
              </Highlight>
            ))}
          </div>
        </section>
      )}
    </div>
  );
}
