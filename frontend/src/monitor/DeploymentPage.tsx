import { Button, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams, useSearchParams } from "react-router";
import { getDeployment } from "../api/client";
import type { Deployment } from "../api/types";
import { Canvas } from "../canvas/Canvas";
import { CanvasContext } from "../canvas/CanvasContext";
import { createCheckStore } from "../canvas/checkStore";
import { readGraph } from "../canvas/editGraph";
import { createGraphStore, GraphStoreContext } from "../canvas/graphStore";
import { createLiveStore } from "../canvas/liveStore";
import type { Catalogue } from "../canvas/ports";
import { createSelectionStore } from "../canvas/selectionStore";
import { useCatalogue } from "../canvas/useCatalogue";
import { useLiveCounts } from "../canvas/useLiveCounts";
import { DeployProgress } from "../deploy/DeployProgress";
import { DeployVersion } from "../deploy/DeployVersion";
import { useMayOperate } from "../deploy/useMayOperate";
import { useCheckedGraph } from "../editor/useCheckedGraph";
import { Brand } from "../shell/Brand";
import header from "../shell/Header.module.css";
import { Loading, Missing } from "../shell/Loading";
import { UserMenu } from "../shell/UserMenu";
import { useTitle } from "../shell/useTitle";
import { rate } from "../text/count";
import { RelativeTime } from "../text/RelativeTime";
import { ActivityTab } from "./ActivityTab";
import { Delays } from "./Delays";
import styles from "./DeploymentPage.module.css";
import { LogsTab } from "./LogsTab";
import { Operate } from "./Operate";
import { OverviewTab } from "./OverviewTab";
import { RowsTab } from "./RowsTab";
import { RunsTab } from "./RunsTab";
import { StateBadge } from "./StateBadge";
import { Trouble } from "./Trouble";
import { useDeployment } from "./useDeployments";
import { VersionsTab } from "./VersionsTab";

const POLL_MS = 5_000;
const TABS = ["overview", "rows", "logs", "runs", "versions", "activity"] as const;

/** One deployment, alive: the canvas with its counts, and what it does over time. */
export function DeploymentPage() {
  const { id = "" } = useParams();
  const catalogue = useCatalogue();
  const feed = useDeployment(id);
  // The socket is the usual way; without it (a proxy, a broker away) the page asks now and then.
  const asked = useQuery({
    queryKey: ["deployment", id],
    queryFn: async () => {
      const found = (await getDeployment({ path: { deployment_id: id } })) as unknown as Deployment;
      return { ...found, graph: readGraph(found.graph) };
    },
    refetchInterval: feed.live ? false : POLL_MS,
    retry: 1,
  });
  const deployment = feed.live && feed.state ? feed.state : (asked.data ?? feed.state);
  if (asked.error && !deployment) return <Missing message={asked.error.message} />;
  if (!deployment || !catalogue) return <Loading />;
  return <Watched key={id} deployment={deployment} live={feed.live} catalogue={catalogue} />;
}

interface WatchedProps {
  deployment: Deployment;
  live: boolean;
  catalogue: Catalogue;
}

function Watched({ deployment, live: connected, catalogue }: WatchedProps) {
  const { t } = useTranslation();
  const [search] = useSearchParams();
  const [tab, setTab] = useState<string | null>("overview");
  const [logOf, setLogOf] = useState<number | null>(null);
  const [deploying, setDeploying] = useState<number | null>(null);
  const done = useCallback(() => setDeploying(null), []);
  const may = useMayOperate(deployment.pipeline);
  const { graph, version, environment } = deployment;
  const [stores] = useState(() => ({
    check: createCheckStore(),
    live: createLiveStore(),
    selection: createSelectionStore(),
  }));
  const things = useMemo(() => ({ ...stores, catalogue, readOnly: true }), [stores, catalogue]);
  const [store] = useState(() => createGraphStore(graph));
  useTitle(deployment.pipeline.name);
  useLiveCounts(stores.live, deployment);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a version's graph is frozen
  useEffect(() => store.replace(graph), [store, version]);
  useCheckedGraph(store.graph(), stores.check, deployment.segments);
  function showLog(epoch: number) {
    setLogOf(epoch === deployment.runs[0]?.epoch ? null : epoch);
    setTab("logs");
  }

  return (
    <GraphStoreContext value={store}>
      <CanvasContext value={things}>
        <ReactFlowProvider>
          <div className={styles.page}>
            <header className={header.header}>
              <Brand />
              <Link to="/" className={header.crumb}>
                {t("nav.pipelines")} /
              </Link>
              <Link to={`/pipelines/${deployment.pipeline.id}`} className={header.brand}>
                {deployment.pipeline.name}
              </Link>
              <span className={header.pill}>{t("monitor.version", { version })}</span>
              <span className={header.pill}>{t(`mode.${deployment.mode}`)}</span>
              {environment !== "default" && <span className={header.pill}>{environment}</span>}
              <span className={header.grow} />
              <Button
                component={Link}
                to={`/pipelines/${deployment.pipeline.id}`}
                variant="default"
              >
                {t("monitor.edit")}
              </Button>
              {may ? (
                <Operate deployment={deployment} />
              ) : (
                <span className={header.pill}>{t("monitor.viewOnly")}</span>
              )}
              <UserMenu />
            </header>
            <div className={styles.top}>
              <div className={styles.status}>
                <span role="status" data-testid="deployment-state" data-state={deployment.state}>
                  <StateBadge state={deployment.state} />
                </span>
                <p className={styles.message} aria-live="polite" data-testid="deployment-message">
                  {deployment.message}
                </p>
                {search.has("deployed") && <DeployProgress deployment={deployment} />}
                {!connected && <span className={styles.offline}>{t("monitor.offline")}</span>}
                {deployment.state === "running" && (
                  <span data-testid="total-rate">{rate(deployment.metrics?.rate ?? 0)}</span>
                )}
                <span className={header.crumb}>
                  <RelativeTime at={deployment.updated_at} />
                </span>
              </div>
              <Trouble deployment={deployment} onLog={showLog} />
              <Delays graph={graph} />
            </div>
            <div className={styles.canvas}>
              <Canvas />
            </div>
            <section className={styles.drawer} aria-label={t("monitor.details")}>
              <Tabs
                value={tab}
                onChange={setTab}
                keepMounted={false}
                style={{ display: "contents" }}
              >
                <Tabs.List>
                  {TABS.map((name) => (
                    <Tabs.Tab key={name} value={name}>
                      {t(`monitor.${name}`)}
                    </Tabs.Tab>
                  ))}
                </Tabs.List>
                <div className={styles.body}>
                  <Tabs.Panel value="overview">
                    <OverviewTab deployment={deployment} />
                  </Tabs.Panel>
                  <Tabs.Panel value="rows">
                    <RowsTab deployment={deployment} catalogue={catalogue} />
                  </Tabs.Panel>
                  <Tabs.Panel value="logs" className={styles.panel}>
                    <LogsTab deployment={deployment} epoch={logOf} onEpoch={setLogOf} />
                  </Tabs.Panel>
                  <Tabs.Panel value="runs">
                    <RunsTab deployment={deployment} onLog={showLog} onDeploy={setDeploying} />
                  </Tabs.Panel>
                  <Tabs.Panel value="versions">
                    <VersionsTab deployment={deployment} onDeploy={setDeploying} />
                  </Tabs.Panel>
                  <Tabs.Panel value="activity">
                    <ActivityTab deployment={deployment} />
                  </Tabs.Panel>
                </div>
              </Tabs>
            </section>
            {deploying !== null && (
              <DeployVersion
                pipeline={deployment.pipeline.id}
                version={deploying}
                environment={environment}
                onClose={done}
              />
            )}
          </div>
        </ReactFlowProvider>
      </CanvasContext>
    </GraphStoreContext>
  );
}
