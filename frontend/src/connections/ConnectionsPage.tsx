import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Modal,
  NumberInput,
  Skeleton,
  Stack,
  TextInput,
  Tooltip,
} from "@mantine/core";
import {
  IconCircleCheck,
  IconCircleX,
  IconLock,
  IconPencil,
  IconPlugConnected,
  IconPlus,
} from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { type ConnectionOut, createTopic, testConnection } from "../api/client";
import header from "../pipelines/PipelinesPage.module.css";
import { Page } from "../shell/Page";
import { say } from "../shell/say";
import { useMe } from "../shell/useMe";
import { useTitle } from "../shell/useTitle";
import { ConnectionForm } from "./ConnectionForm";
import styles from "./ConnectionsPage.module.css";
import { placeOf } from "./connectionFields";
import { DeleteConnection } from "./DeleteConnection";
import { useConnections, useTopics } from "./useConnections";

/** What steps can name: Kafka clusters with their topics, databases, folders, registries. */
export function ConnectionsPage() {
  const { t } = useTranslation();
  const connections = useConnections();
  const mayChange = useMe().data?.may.connections ?? false;
  const [adding, setAdding] = useState(false);
  useTitle(t("nav.connections"));
  return (
    <Page>
      <div className={header.bar}>
        <h1>{t("nav.connections")}</h1>
        {mayChange && (
          <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAdding(true)}>
            {t("connections.add")}
          </Button>
        )}
      </div>
      {connections.error && <p role="alert">{connections.error.message}</p>}
      {!connections.data && !connections.error && <Skeleton h={160} radius="md" />}
      <div className={styles.list}>
        {connections.data?.items.map((connection) => (
          <OneConnection key={connection.id} connection={connection} mayChange={mayChange} />
        ))}
      </div>
      {connections.data?.count === 0 && <p className={header.small}>{t("connections.none")}</p>}
      {adding && <ConnectionForm onClose={() => setAdding(false)} />}
    </Page>
  );
}

interface OneProps {
  connection: ConnectionOut;
  /** Trying one reaches out, so it needs the right to change it. */
  mayChange: boolean;
}

function OneConnection({ connection, mayChange }: OneProps) {
  const { t } = useTranslation();
  const [changing, setChanging] = useState(false);
  const test = useMutation({
    mutationFn: () => testConnection({ path: { connection_id: connection.id } }),
  });
  return (
    <section
      className={styles.card}
      aria-labelledby={`connection-${connection.id}`}
      data-connection={connection.name}
    >
      <div className={styles.head}>
        <h2 id={`connection-${connection.id}`}>{connection.name}</h2>
        <span className={styles.type}>{t(`connections.types.${connection.type}`)}</span>
        <span className={styles.servers}>{placeOf(connection)}</span>
        {connection.secrets.length > 0 && (
          <Tooltip label={t("connections.secured")}>
            <IconLock size={15} aria-label={t("connections.secured")} />
          </Tooltip>
        )}
        {mayChange && (
          <>
            <Button
              variant="default"
              leftSection={<IconPlugConnected size={14} aria-hidden />}
              loading={test.isPending}
              onClick={() => test.mutate()}
            >
              {t("connections.test")}
            </Button>
            <Tooltip label={t("connections.change")}>
              <ActionIcon
                aria-label={t("connections.changeOne", { name: connection.name })}
                onClick={() => setChanging(true)}
              >
                <IconPencil size={16} />
              </ActionIcon>
            </Tooltip>
            <DeleteConnection connection={connection} />
          </>
        )}
      </div>
      <div aria-live="polite">
        {test.error && (
          <Alert color="red" mt="sm">
            {test.error.message}
          </Alert>
        )}
        {test.data && (
          <ul className={styles.steps}>
            {test.data.steps.map((step) => (
              <li key={step.name} data-ok={step.ok}>
                {step.ok ? (
                  <IconCircleCheck size={15} aria-label={t("connections.ok")} />
                ) : (
                  <IconCircleX size={15} aria-label={t("connections.failed")} />
                )}
                <b>{step.name}</b>
                <span>{step.message}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      {connection.type === "kafka" && <Topics connection={connection} />}
      {changing && <ConnectionForm connection={connection} onClose={() => setChanging(false)} />}
    </section>
  );
}

function Topics({ connection }: { connection: ConnectionOut }) {
  const { t } = useTranslation();
  const [making, setMaking] = useState(false);
  const topics = useTopics(connection.id);
  return (
    <>
      {topics.error && (
        <Alert color="yellow" mt="sm">
          {topics.error.message}
        </Alert>
      )}
      {!topics.data && !topics.error && <Skeleton h={60} mt="sm" />}
      {topics.data && (
        <table className={styles.topics}>
          <thead>
            <tr>
              <th scope="col">{t("connections.topic")}</th>
              <th scope="col">{t("connections.partitions")}</th>
            </tr>
          </thead>
          <tbody>
            {topics.data.items.map(({ topic, partitions }) => (
              <tr key={topic}>
                <td>
                  <Link to={`/connections/${connection.id}/topics/${topic}`}>{topic}</Link>
                </td>
                <td>{partitions}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {topics.data?.count === 0 && <p className={header.small}>{t("connections.noTopics")}</p>}
      <Button
        mt="sm"
        variant="default"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => setMaking(true)}
      >
        {t("connections.makeTopic")}
      </Button>
      {making && <MakeTopic connection={connection} onClose={() => setMaking(false)} />}
    </>
  );
}

function MakeTopic({ connection, onClose }: { connection: ConnectionOut; onClose: () => void }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [topic, setTopic] = useState("");
  const [partitions, setPartitions] = useState(2);
  const make = useMutation({
    mutationFn: () =>
      createTopic({ path: { connection_id: connection.id }, body: { topic, partitions } }),
    onSuccess: () => {
      say(t("connections.topicMade", { topic }));
      void queries.invalidateQueries({ queryKey: ["connections", connection.id] });
      onClose();
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("connections.makeTopicIn", { connection: connection.name })}
    >
      <Ask
        onSubmit={make.mutate}
        error={make.error}
        pending={make.isPending}
        label={t("connections.makeNow")}
        onClose={onClose}
      >
        <TextInput
          label={t("connections.topic")}
          required
          pattern="[A-Za-z0-9._\-]{1,249}"
          data-autofocus
          value={topic}
          onChange={(event) => setTopic(event.currentTarget.value)}
        />
        <NumberInput
          label={t("connections.partitions")}
          min={1}
          max={1000}
          allowDecimal={false}
          value={partitions}
          onChange={(value) => setPartitions(Number(value) || 1)}
        />
      </Ask>
    </Modal>
  );
}

interface AskProps {
  onSubmit: () => void;
  onClose: () => void;
  error: Error | null;
  pending: boolean;
  label: string;
  children: React.ReactNode;
}

function Ask({ onSubmit, onClose, error, pending, label, children }: AskProps) {
  const { t } = useTranslation();
  function submit(event: FormEvent) {
    event.preventDefault();
    onSubmit();
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {children}
        {error && (
          <Alert color="red" role="alert">
            {error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button type="submit" loading={pending}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
