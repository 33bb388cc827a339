import { Highlight, SegmentedControl, Select, Skeleton, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { getLogs } from "../api/client";
import type { Deployment } from "../api/types";
import styles from "./DeploymentPage.module.css";
import {
  folded,
  gist,
  LEVELS,
  type Level,
  type LogEntry,
  logEntries,
  matching,
} from "./logEntries";

const REFRESH_MS = 3_000;
const MOST = 2_000;
// Lines of an entry that are shown without being asked for.
const LONG = 6;

type Run = Deployment["runs"][number];

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
  // Who seeks sees all that was found.
  const items = useMemo(
    () => (level === "all" && words.trim() === "" ? folded(found) : found),
    [found, level, words],
  );
  const run = runs.find((run) => run.epoch === shown);

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
      {run && <RunsError run={run} deployment={deployment} />}
      {found.length > 0 && (
        <section
          className={styles.log}
          aria-label={t("logs.run", { epoch: shown })}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
          tabIndex={0}
        >
          <div>
            {items.map((item, i) =>
              Array.isArray(item) ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of a log have no name
                <details key={i} className={styles.noise}>
                  <summary>{t("logs.ofSpark", { count: item.length })}</summary>
                  {item.map((entry, j) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: lines of a log have no name
                    <Entry key={j} entry={entry} words="" />
                  ))}
                </details>
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of a log have no name
                <Entry key={i} entry={item} words={words.trim()} />
              ),
            )}
          </div>
        </section>
      )}
    </div>
  );
}

/** Why a run ended, in words, before all that was written meanwhile. */
function RunsError({ run, deployment }: { run: Run; deployment: Deployment }) {
  const { t } = useTranslation();
  if (run.state !== "failed" && run.state !== "backing_off") return null;
  const step = deployment.graph.steps.find(({ id }) => id === run.step);
  return (
    <p className={styles.runsError} data-testid="runs-error">
      <strong>{step ? t("logs.endedAt", { step: step.label || step.id }) : t("logs.ended")}</strong>{" "}
      {run.message}
    </p>
  );
}

/** One entry; a long one as its gist, all of it on demand. */
function Entry({ entry, words }: { entry: LogEntry; words: string }) {
  const text = (lines: string[]) => (
    <Highlight component="pre" className={styles.entry} data-level={entry.level} highlight={words}>
      {lines.join("\n")}
    </Highlight>
  );
  const { t } = useTranslation();
  // A search may have found what the gist leaves out.
  if (entry.lines.length <= LONG || words) return text(entry.lines);
  return (
    <details className={styles.stack}>
      <summary>
        {text(gist(entry))}
        <span className={styles.more}>{t("logs.lines", { count: entry.lines.length })}</span>
      </summary>
      {text(entry.lines)}
    </details>
  );
}
