import { Button, Group, Modal, Skeleton } from "@mantine/core";
import { IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteEnvironment, type EnvironmentOut, type Setting } from "../api/client";
import cards from "../connections/ConnectionsPage.module.css";
import header from "../pipelines/PipelinesPage.module.css";
import { Page } from "../shell/Page";
import { sayError } from "../shell/say";
import { useMe } from "../shell/useMe";
import { useTitle } from "../shell/useTitle";
import { EditEnvironment } from "./EditEnvironment";
import styles from "./EnvironmentsPage.module.css";
import { useEnvironments } from "./useEnvironments";

/** Where deployments can run: which connections are meant there, and how Spark runs. */
export function EnvironmentsPage() {
  const { t } = useTranslation();
  const environments = useEnvironments();
  // Connections and environments are in the same hands.
  const mayChange = useMe().data?.may.connections ?? false;
  const [adding, setAdding] = useState(false);
  useTitle(t("nav.environments"));
  const settings = environments.data?.settings ?? [];
  return (
    <Page>
      <div className={header.bar}>
        <h1>{t("nav.environments")}</h1>
        {mayChange && (
          <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAdding(true)}>
            {t("environments.add")}
          </Button>
        )}
      </div>
      <p className={header.small}>{t("environments.explain")}</p>
      {environments.error && <p role="alert">{environments.error.message}</p>}
      {!environments.data && !environments.error && <Skeleton h={120} radius="md" />}
      <div className={cards.list}>
        {environments.data?.items.map((environment) => (
          <OneEnvironment
            key={environment.name}
            environment={environment}
            settings={settings}
            mayChange={mayChange}
          />
        ))}
      </div>
      {environments.data?.count === 0 && <p>{t("environments.none")}</p>}
      {adding && <EditEnvironment settings={settings} onClose={() => setAdding(false)} />}
    </Page>
  );
}

interface OneProps {
  environment: EnvironmentOut;
  settings: Setting[];
  mayChange: boolean;
}

function OneEnvironment({ environment, settings, mayChange }: OneProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"change" | "delete" | null>(null);
  const { name, connections, profile } = environment;
  const close = () => setOpen(null);
  const facts: [string, string][] = [
    ...Object.entries(connections).map(([from, to]): [string, string] => [
      t("environments.connection"),
      t("environments.meaning", { from, to }),
    ]),
    [t("environments.master"), profile.master || t("environments.asInstalled")],
    [t("environments.cores"), String(profile.cores ?? t("environments.asNeeded"))],
    [t("environments.driverMemory"), profile.driver_memory],
    [t("environments.executorMemory"), profile.executor_memory],
    ...Object.entries(profile.conf),
  ];
  return (
    <section className={cards.card} aria-labelledby={`environment-${name}`} data-environment={name}>
      <div className={cards.head}>
        <h2 id={`environment-${name}`} className={styles.name}>
          {name}
        </h2>
        {mayChange && (
          <>
            <Button
              variant="default"
              leftSection={<IconPencil size={14} aria-hidden />}
              aria-label={t("environments.change", { name })}
              onClick={() => setOpen("change")}
            >
              {t("environments.changeShort")}
            </Button>
            <Button
              variant="default"
              leftSection={<IconTrash size={14} aria-hidden />}
              aria-label={t("environments.deleteOne", { name })}
              onClick={() => setOpen("delete")}
            >
              {t("environments.deleteShort")}
            </Button>
          </>
        )}
      </div>
      <dl className={styles.facts}>
        {facts
          .filter(([, value]) => value !== "")
          .map(([fact, value]) => (
            <Fragment key={`${fact} ${value}`}>
              <dt>{fact}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
      </dl>
      {open === "change" && (
        <EditEnvironment environment={environment} settings={settings} onClose={close} />
      )}
      {open === "delete" && <DeleteEnvironment name={name} onClose={close} />}
    </section>
  );
}

function DeleteEnvironment({ name, onClose }: { name: string; onClose: () => void }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteEnvironment({ path: { name } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["environments"] }),
    onError: sayError,
    onSettled: onClose,
  });
  return (
    <Modal opened onClose={onClose} title={t("environments.deleteTitle", { name })}>
      <p>{t("environments.deleteExplain")}</p>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t("action.cancel")}
        </Button>
        <Button color="red.9" loading={remove.isPending} onClick={() => remove.mutate()}>
          {t("environments.deleteNow")}
        </Button>
      </Group>
    </Modal>
  );
}
