import {
  ActionIcon,
  Button,
  FileButton,
  Modal,
  Pagination,
  Skeleton,
  TextInput,
  Tooltip,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import {
  IconActivity,
  IconLayoutGrid,
  IconPlus,
  IconSearch,
  IconUpload,
} from "@tabler/icons-react";
import { memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { PipelineListed } from "../api/client";
import type { DeploymentListed, DeploymentState } from "../api/types";
import { DeploymentSwitch } from "../deploy/DeploymentSwitch";
import { StateBadge } from "../monitor/StateBadge";
import { useDeployments } from "../monitor/useDeployments";
import { Page } from "../shell/Page";
import { useTitle } from "../shell/useTitle";
import { rate, short } from "../text/count";
import { RelativeTime } from "../text/RelativeTime";
import { DeletePipeline } from "./DeletePipeline";
import { EmptyState } from "./EmptyState";
import styles from "./PipelinesPage.module.css";
import { TemplateGallery } from "./TemplateGallery";
import { PAGE_SIZE, useMakePipeline, usePipelines } from "./usePipelines";

/** Every pipeline, with what runs of it. */
export function PipelinesPage() {
  const { t } = useTranslation();
  const [search, setSearch] = useState("");
  const [wanted] = useDebouncedValue(search.trim(), 200);
  const [page, setPage] = useState(1);
  const [gallery, setGallery] = useState(false);
  const pipelines = usePipelines(wanted, page);
  const deployments = useDeployments();
  const make = useMakePipeline();
  useTitle(t("nav.pipelines"));

  const live = new Map(deployments.state?.map((deployment) => [deployment.id, deployment]));
  const { items = [], count = 0 } = pipelines.data ?? {};
  const none = pipelines.data !== undefined && count === 0 && wanted === "";

  return (
    <Page>
      <div className={styles.bar}>
        <h1>{t("nav.pipelines")}</h1>
        {!none && (
          <TextInput
            w={220}
            type="search"
            leftSection={<IconSearch size={15} aria-hidden />}
            placeholder={t("pipelines.search")}
            aria-label={t("pipelines.search")}
            value={search}
            onChange={(event) => {
              setSearch(event.currentTarget.value);
              setPage(1);
            }}
          />
        )}
        <FileButton
          accept="application/json,.json"
          onChange={(file) => file && make.mutate({ file })}
        >
          {(props) => (
            <Button {...props} variant="default" leftSection={<IconUpload size={14} aria-hidden />}>
              {t("pipelines.import")}
            </Button>
          )}
        </FileButton>
        <Button
          variant="default"
          leftSection={<IconLayoutGrid size={14} aria-hidden />}
          onClick={() => setGallery(true)}
        >
          {t("pipelines.fromTemplate")}
        </Button>
        <Button
          leftSection={<IconPlus size={14} aria-hidden />}
          loading={make.isPending}
          onClick={() => make.mutate({})}
        >
          {t("pipelines.new")}
        </Button>
      </div>
      {pipelines.error && !pipelines.data && <p role="alert">{pipelines.error.message}</p>}
      {!pipelines.data && !pipelines.error && <Skeleton h={220} radius="md" />}
      {none && (
        <EmptyState
          making={make.isPending}
          onTemplate={(template) => make.mutate({ template })}
          onEmpty={() => make.mutate({})}
        />
      )}
      {pipelines.data && !none && (
        <>
          <table className={styles.table} aria-label={t("nav.pipelines")}>
            <thead>
              <tr>
                <th scope="col">{t("pipelines.name")}</th>
                <th scope="col">{t("pipelines.owner")}</th>
                <th scope="col">{t("pipelines.version")}</th>
                <th scope="col">{t("pipelines.state")}</th>
                <th scope="col" className={styles.number}>
                  {t("pipelines.rows")}
                </th>
                <th scope="col" className={styles.number}>
                  {t("pipelines.lag")}
                </th>
                <th scope="col">{t("pipelines.changed")}</th>
                <th scope="col">
                  <span className="visually-hidden">{t("pipelines.actions")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((pipeline) => (
                <Row
                  key={pipeline.id}
                  pipeline={pipeline}
                  deployment={live.get(pipeline.deployment?.id ?? "") ?? null}
                />
              ))}
            </tbody>
          </table>
          {items.length === 0 && (
            <p className={styles.small}>{t("pipelines.noneFound", { search: wanted })}</p>
          )}
          {count > PAGE_SIZE && (
            <Pagination
              mt="md"
              size="sm"
              value={page}
              onChange={setPage}
              total={Math.ceil(count / PAGE_SIZE)}
            />
          )}
        </>
      )}
      <Modal
        opened={gallery}
        onClose={() => setGallery(false)}
        title={t("pipelines.fromTemplate")}
        size={760}
      >
        <TemplateGallery
          making={make.isPending}
          onChoose={({ name }) => make.mutate({ template: name })}
        />
      </Modal>
    </Page>
  );
}

interface RowProps {
  pipeline: PipelineListed;
  deployment: DeploymentListed | null;
}

/** One pipeline; drawn anew only where something of it has changed. */
const Row = memo(function Row({ pipeline, deployment }: RowProps) {
  const { t } = useTranslation();
  // The websocket is newer than the list; until it is up the list will do.
  const known = pipeline.deployment;
  const state = deployment?.state ?? (known?.state as DeploymentState | undefined);
  const perSecond = deployment ? (deployment.metrics?.rate ?? 0) : (known?.rate ?? 0);
  const lag = deployment?.metrics?.lag ?? null;
  return (
    <tr data-pipeline={pipeline.id}>
      <td>
        <Link to={`/pipelines/${pipeline.id}`} className={styles.name}>
          {pipeline.name}
        </Link>
        <div className={styles.small}>{t("pipelines.steps", { count: pipeline.steps })}</div>
      </td>
      <td>{pipeline.owner ?? "–"}</td>
      <td>{pipeline.latest_version ?? <span className={styles.small}>{t("save.draft")}</span>}</td>
      <td>
        {known && state ? (
          <Link to={`/deployments/${known.id}`} style={{ textDecoration: "none" }}>
            <StateBadge state={state} message={deployment?.message ?? known.message} />
          </Link>
        ) : (
          <span className={styles.small}>{t("pipelines.notDeployed")}</span>
        )}
      </td>
      <td className={styles.number} data-measure="rate">
        {known && perSecond > 0 ? rate(perSecond) : "–"}
      </td>
      <td className={styles.number} data-measure="lag">
        {lag === null ? "–" : short(lag)}
      </td>
      <td className={styles.small}>
        <RelativeTime at={pipeline.updated_at} />
      </td>
      <td>
        <div className={styles.actions}>
          {known && (
            <>
              <Tooltip label={t("pipelines.watch")}>
                <ActionIcon
                  component={Link}
                  to={`/deployments/${known.id}`}
                  aria-label={t("pipelines.watchOne", { name: pipeline.name })}
                >
                  <IconActivity size={16} />
                </ActionIcon>
              </Tooltip>
              <DeploymentSwitch
                id={known.id}
                name={pipeline.name}
                desired={deployment?.desired ?? (known.state === "stopped" ? "stopped" : "running")}
                state={state}
              />
            </>
          )}
          <DeletePipeline pipeline={pipeline} />
        </div>
      </td>
    </tr>
  );
});
