import { Autocomplete, Button, Checkbox, Modal, Select, Skeleton, Table } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconWand } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { type Sample, sampleTopic } from "../api/client";
import type { FormContext } from "./FormContext";
import styles from "./InferColumns.module.css";
import { namedByPlace, type Proposal, proposals, withProposals } from "./inferredColumns";
import { COLUMN_TYPES } from "./widgets/ColumnTypeWidget";
import { useConnectionId } from "./widgets/useTopicsOf";

const SAMPLED = 100;
const SHOWN = 5;

/** Whether a step reads topics, whose records can be looked at for columns. */
export function canInfer({ type }: FormContext): boolean {
  return type === "kafka_source" || type === "kafka_table" || type === "lookup_table";
}

/** A button that looks at the newest records of a source's topic and proposes their columns. */
export function InferColumns({ context }: { context: FormContext }) {
  const { t } = useTranslation();
  const [opened, { open, close }] = useDisclosure();
  const connection = useConnectionId(context);
  const topics = topicsOf(context);
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        leftSection={<IconWand size={13} aria-hidden />}
        onClick={open}
        disabled={!connection || topics.length === 0}
        title={topics.length === 0 ? t("infer.needsTopic") : undefined}
      >
        {t("infer.open")}
      </Button>
      {connection && (
        <Modal opened={opened} onClose={close} title={t("infer.title")} size="lg">
          <Inferred connection={connection} topics={topics} context={context} onDone={close} />
        </Modal>
      )}
    </>
  );
}

interface InferredProps {
  connection: string;
  topics: string[];
  context: FormContext;
  onDone: () => void;
}

function Inferred({ connection, topics, context, onDone }: InferredProps) {
  const { t } = useTranslation();
  const [topic, setTopic] = useState(topics[0] ?? "");
  const format = context.config.format === "csv" ? "csv" : undefined;
  const sample = useQuery({
    queryKey: ["connections", connection, "topics", topic, "columns", format],
    queryFn: () =>
      sampleTopic({
        path: { connection_id: connection, topic },
        query: { limit: SAMPLED, format },
      }),
    gcTime: 0,
    retry: false,
  });
  return (
    <div className={styles.inferred}>
      {topics.length > 1 && (
        <Select
          label={t("infer.topic")}
          data={topics}
          value={topic}
          allowDeselect={false}
          onChange={(next) => setTopic(next ?? topic)}
        />
      )}
      {sample.isPending && <Skeleton height={160} aria-label={t("loading")} />}
      {sample.error && <p role="alert">{sample.error.message}</p>}
      {sample.data && (
        <Proposed key={topic} sample={sample.data} context={context} onDone={onDone} />
      )}
    </div>
  );
}

interface ProposedProps {
  sample: Sample;
  context: FormContext;
  onDone: () => void;
}

function Proposed({ sample, context, onDone }: ProposedProps) {
  const { t } = useTranslation();
  const [proposed, setProposed] = useState(() => {
    const { config } = context;
    const named = sample.format === "csv" ? namedByPlace(config, sample.columns) : sample.columns;
    return proposals(config, named);
  });
  if (sample.rows.length === 0) return <p>{t("infer.empty", { topic: sample.topic })}</p>;
  if (sample.format === "text")
    return (
      <>
        <p>{t("infer.text", { topic: sample.topic })}</p>
        <Preview sample={sample} />
      </>
    );
  const count = proposed.filter(({ taken }) => taken).length;

  function change(name: string, to: Partial<Proposal>) {
    setProposed((all) => all.map((p) => (p.name === name ? { ...p, ...to } : p)));
  }

  function take() {
    context.change(withProposals(context.config, proposed), "columns");
    onDone();
  }

  return (
    <>
      <p className={styles.hint}>
        {t("infer.explain", { topic: sample.topic, count: sample.rows.length })}
      </p>
      <Table className={styles.columns} verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("columns.name")}</Table.Th>
            <Table.Th>{t("columns.type")}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {proposed.map((p) => (
            <Table.Tr key={p.name} data-state={p.state} data-testid="proposal">
              <Table.Td>
                <Checkbox
                  label={<span className="mono">{p.name}</span>}
                  checked={p.taken}
                  disabled={p.state === "missing" || (p.state === "same" && p.type === p.was)}
                  onChange={(event) => change(p.name, { taken: event.currentTarget.checked })}
                />
              </Table.Td>
              <Table.Td>
                <Autocomplete
                  aria-label={t("infer.typeOf", { name: p.name })}
                  classNames={{ input: "mono" }}
                  data={COLUMN_TYPES}
                  value={p.type}
                  disabled={p.state === "missing"}
                  onChange={(type) => change(p.name, { type, taken: type !== p.was })}
                />
              </Table.Td>
              <Table.Td className={styles.state}>
                {t(`infer.state.${p.state}`, { was: p.was })}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Preview sample={sample} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={onDone}>
          {t("action.cancel")}
        </Button>
        <Button onClick={take} disabled={count === 0}>
          {t("infer.take", { count })}
        </Button>
      </div>
    </>
  );
}

/** The newest of the sampled records, as a table. */
function Preview({ sample }: { sample: Sample }) {
  const { t } = useTranslation();
  const names = sample.columns.map(({ name }) => name);
  const records = sample.records.slice(-SHOWN).reverse();
  return (
    <section aria-label={t("infer.preview")}>
      <h3 className={styles.heading}>{t("infer.preview")}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable */}
      <div className={styles.preview} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {records.map((record, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a sample stays as it is
              <tr key={i}>
                {names.map((name) => (
                  <td key={name}>{text(record[name])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function text(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function topicsOf({ config }: FormContext): string[] {
  const listed = Array.isArray(config.topics) ? config.topics : [];
  return listed.filter((topic): topic is string => typeof topic === "string" && topic !== "");
}
