import {
  Button,
  NumberInput,
  SegmentedControl,
  Select,
  Skeleton,
  Switch,
  Text,
  TextInput,
} from "@mantine/core";
import { IconCopy, IconRefresh } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { getState, listTables, type StateOut, type StateQuery, type TableOut } from "../api/client";
import type { Deployment } from "../api/types";
import page from "../monitor/DeploymentPage.module.css";
import { say, sayError } from "../shell/say";
import {
  type Asked,
  asCurl,
  type By,
  isWindowed,
  MOST_ROWS,
  NOTHING_ASKED,
  queryOf,
  typedKey,
  WINDOW,
  waysToAsk,
} from "./asked";
import styles from "./StateTab.module.css";

/** What the tables of a deployment hold: pick one, say which rows, see how fresh they are. */
export function StateTab({ deployment }: { deployment: Deployment }) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<string | null>(null);
  const tables = useQuery({
    queryKey: ["tables", deployment.id, deployment.version, deployment.mode],
    queryFn: ({ signal }) => listTables({ path: { deployment_id: deployment.id }, signal }),
  });
  if (tables.error) return <p role="alert">{tables.error.message}</p>;
  if (!tables.data) return <Skeleton h={80} />;
  const those = tables.data.tables;
  const table = those.find(({ step }) => step === chosen) ?? those[0];
  if (!table) return <Text c="dimmed">{t("tables.none")}</Text>;
  return (
    <OneTable key={table.step} deployment={deployment.id} table={table}>
      <Select
        label={t("tables.table")}
        w={220}
        allowDeselect={false}
        data={those.map(({ step, label }) => ({ value: step, label: `${label} · ${step}` }))}
        value={table.step}
        onChange={setChosen}
      />
    </OneTable>
  );
}

interface Props {
  deployment: string;
  table: TableOut;
  /** What chooses another table. */
  children: ReactNode;
}

function OneTable({ deployment, table, children }: Props) {
  const { t } = useTranslation();
  const [filled, setFilled] = useState<Asked>(NOTHING_ASKED);
  const [query, setQuery] = useState<StateQuery>(() => queryOf(table, NOTHING_ASKED));
  const ways = waysToAsk(table);
  const answer = useQuery({
    queryKey: ["state", deployment, table.step, query],
    queryFn: ({ signal }) =>
      getState({ path: { deployment_id: deployment, step: table.step }, query, signal }),
    placeholderData: keepPreviousData,
    retry: false,
    // Asking costs a worker's time, so only who asks does.
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  function fill(change: Partial<Asked>) {
    setFilled((before) => ({ ...before, ...change }));
  }

  function ask(event: FormEvent) {
    event.preventDefault();
    const wanted = queryOf(table, filled);
    if (JSON.stringify(wanted) === JSON.stringify(query)) answer.refetch();
    else setQuery(wanted);
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(
        asCurl(window.location.origin, deployment, table.step, queryOf(table, filled)),
      );
      say(t("tables.copied"));
    } catch (error) {
      sayError(error);
    }
  }

  return (
    <>
      <form className={styles.question} onSubmit={ask}>
        {children}
        {ways.length > 1 && (
          <fieldset className={styles.ways}>
            <legend>{t("tables.rows")}</legend>
            <SegmentedControl
              aria-label={t("tables.rows")}
              data={ways.map((value) => ({ value, label: t(`tables.by.${value}`) }))}
              value={filled.by}
              onChange={(value) => fill({ by: value as By })}
            />
          </fieldset>
        )}
        {filled.by === "key" &&
          typedKey(table).map(({ name, type }) => (
            <TextInput
              key={name}
              label={name}
              w={160}
              placeholder={type ?? undefined}
              spellCheck={false}
              value={filled.key[name] ?? ""}
              onChange={(event) =>
                fill({ key: { ...filled.key, [name]: event.currentTarget.value } })
              }
            />
          ))}
        {filled.by === "prefix" && (
          <TextInput
            label={t("tables.begins", { name: typedKey(table)[0]?.name })}
            w={180}
            spellCheck={false}
            value={filled.prefix}
            onChange={(event) => fill({ prefix: event.currentTarget.value })}
          />
        )}
        {isWindowed(table) &&
          (["from", "to"] as const).map((end) => (
            <TextInput
              key={end}
              type="datetime-local"
              step={1}
              label={t(`tables.${end}`)}
              value={filled[end]}
              onChange={(event) => fill({ [end]: event.currentTarget.value })}
            />
          ))}
        <NumberInput
          label={t("tables.limit")}
          w={86}
          min={1}
          max={MOST_ROWS}
          clampBehavior="strict"
          allowDecimal={false}
          value={filled.limit}
          onChange={(value) => fill({ limit: Number(value) || NOTHING_ASKED.limit })}
        />
        {table.mode === "real_time" && table.live && (
          <Switch
            label={t("tables.live")}
            className={styles.live}
            checked={filled.live}
            onChange={(event) => fill({ live: event.currentTarget.checked })}
          />
        )}
        <Button
          type="submit"
          leftSection={<IconRefresh size={14} aria-hidden />}
          loading={answer.isFetching}
        >
          {t("tables.ask")}
        </Button>
        <Button
          variant="default"
          leftSection={<IconCopy size={14} aria-hidden />}
          onClick={() => copy()}
        >
          {t("tables.copy")}
        </Button>
      </form>
      {answer.error ? (
        <p role="alert">{answer.error.message}</p>
      ) : answer.data ? (
        <Found answer={answer.data} label={table.label} />
      ) : (
        <Skeleton h={60} />
      )}
    </>
  );
}

function Found({ answer, label }: { answer: StateOut; label: string }) {
  const { t } = useTranslation();
  return (
    <>
      <p className={styles.fresh} role="status">
        {freshness(answer, t)} {answer.note}
      </p>
      {answer.rows.length === 0 ? (
        <p className={styles.none}>{t("tables.empty")}</p>
      ) : (
        <table className={page.rows} aria-label={t("tables.rowsOf", { label })}>
          <thead>
            <tr>
              {answer.columns.map(({ name, type }) => (
                <th key={name} scope="col" title={type}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {answer.rows.map((row) => (
              <tr key={JSON.stringify(answer.key.map((name) => row[name]))}>
                {answer.columns.map(({ name }) => (
                  <td key={name} data-number={typeof row[name] === "number"}>
                    {cell(name, row[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {answer.more && (
        <p className={styles.none}>{t("tables.more", { count: answer.rows.length })}</p>
      )}
    </>
  );
}

/** How fresh the rows are, in words. */
function freshness(answer: StateOut, t: TFunction): string {
  const committed =
    answer.batch === null || answer.committed_at == null
      ? ""
      : t("tables.committed", { time: clock(answer.committed_at), batch: answer.batch });
  if (answer.from === "checkpoint") return committed;
  const newest = t("tables.newest", { time: answer.as_of ? clock(answer.as_of) : "" });
  return `${newest} ${committed}`.trim();
}

function clock(at: string): string {
  const moment = new Date(at);
  const today = moment.toDateString() === new Date().toDateString();
  return today
    ? moment.toLocaleTimeString("en-GB")
    : moment.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

function cell(name: string, value: unknown) {
  if (value === null || value === undefined) return <span className={page.null}>null</span>;
  if (name === WINDOW && isSpan(value))
    return (
      <time dateTime={value.start} title={`${value.start} – ${value.end}`}>
        {span(value.start, value.end)}
      </time>
    );
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isSpan(value: unknown): value is { start: string; end: string } {
  return typeof value === "object" && value !== null && "start" in value && "end" in value;
}

/** A window by the clock of the browser: `1 Jan 2026, 12:00:00 – 12:00:10`. */
export function span(start: string, end: string): string {
  const [from, to] = [new Date(start), new Date(end)];
  const style = { dateStyle: "medium", timeStyle: "medium" } as const;
  const same = from.toDateString() === to.toDateString();
  return `${from.toLocaleString("en-GB", style)} – ${
    same ? to.toLocaleTimeString("en-GB") : to.toLocaleString("en-GB", style)
  }`;
}
