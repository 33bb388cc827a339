import { Button, NativeSelect, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { type CSSProperties, useCallback, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams, useSearchParams } from "react-router";
import { AlertBadge } from "../alerts/AlertBadge";
import { DeploymentAlerts } from "../alerts/DeploymentAlerts";
import { getDeployment } from "../api/client";
import { ApiError } from "../api/session";
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
import { useWaiting } from "../canvas/useWaiting";
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
import { COUNT_SPANS, type CountSpan } from "./countSpan";
import { Delays } from "./Delays";
import styles from "./DeploymentPage.module.css";
import { DrawerHandle, useDrawerHeight } from "./DrawerHandle";
import { DEPLOYMENT_TABS, type DeploymentTabProps } from "./deploymentTabs";
import { newest } from "./newest";
import { Operate } from "./Operate";
import { readRange } from "./range";
import { StateBadge } from "./StateBadge";
import { Trouble } from "./Trouble";
import { useCountedSteps } from "./useCountedSteps";
import { useDeployment } from "./useDeployments";

const POLL_MS = 5_000;
const FIRST_TAB = "overview";

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
  const known = feed.live ? feed.state : newest(feed.state, asked.data ?? null, (one) => [one]);
  const deployment = known ?? asked.data ?? null;
  // Whoever may no longer see it keeps no picture of it.
  const gone = !feed.live && asked.error instanceof ApiError && asked.error.status === 404;
  if (asked.error && (gone || !deployment)) return <Missing message={asked.error.message} />;
  if (!deployment || !catalogue) return <Loading />;
  return <Watched key={id} deployment={deployment} live={feed.live} catalogue={catalogue} />;
}

function tabOf(search: URLSearchParams): string {
  const asked = search.get("tab");
  return DEPLOYMENT_TABS.some(({ id }) => id === asked) ? (asked as string) : FIRST_TAB;
}

interface WatchedProps {
  deployment: Deployment;
  live: boolean;
  catalogue: Catalogue;
}

function Watched({ deployment, live: connected, catalogue }: WatchedProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useSearchParams();
  const [logOf, setLogOf] = useState<number | null>(null);
  const [deploying, setDeploying] = useState<number | null>(null);
  const [height, setHeight] = useDrawerHeight();
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
  const [span, setSpan] = useState<CountSpan>("all");
  const range = useMemo(() => readRange(search.get("range")), [search]);
  const over = t(`monitor.count.${span}`, { version });
  const counted = useCountedSteps(deployment, span, range, over);
  useLiveCounts(stores.live, deployment, counted);
  useWaiting(stores.live, deployment);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a version's graph is frozen
  useEffect(() => store.replace(graph), [store, version]);
  useCheckedGraph(store.graph(), stores.check, deployment.segments);
  function showTab(name: string | null) {
    setSearch(
      (now) => {
        now.set("tab", name ?? FIRST_TAB);
        return now;
      },
      { replace: true },
    );
  }
  function showLog(epoch: number) {
    setLogOf(epoch === deployment.runs[0]?.epoch ? null : epoch);
    showTab("logs");
  }
  const given: DeploymentTabProps = {
    deployment,
    catalogue,
    epoch: logOf,
    onEpoch: setLogOf,
    onLog: showLog,
    onDeploy: setDeploying,
  };

  return (
    <GraphStoreContext value={store}>
      <CanvasContext value={things}>
        <ReactFlowProvider>
          <div className={styles.page} style={{ "--drawer": `${height}px` } as CSSProperties}>
            <header className={header.header}>
              <Brand />
              <Link to="/" className={header.crumb}>
                {t("nav.pipelines")} /
              </Link>
              <h1 className={styles.name}>
                <Link to={`/pipelines/${deployment.pipeline.id}`} className={header.brand}>
                  {deployment.pipeline.name}
                </Link>
              </h1>
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
              <AlertBadge />
              <UserMenu />
            </header>
            <main className={styles.main}>
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
                  <NativeSelect
                    size="xs"
                    aria-label={t("monitor.counts")}
                    data={COUNT_SPANS.map((value) => ({
                      value,
                      label: t(`monitor.count.${value}`, { version }),
                    }))}
                    value={span}
                    onChange={(event) => setSpan(event.currentTarget.value as CountSpan)}
                    error={counted.error?.message ?? (counted.unknown && t("monitor.countsNone"))}
                  />
                  <span className={header.crumb}>
                    <RelativeTime at={deployment.updated_at} />
                  </span>
                </div>
                <Trouble deployment={deployment} onLog={showLog} />
                <DeploymentAlerts id={deployment.id} />
                <Delays graph={graph} />
              </div>
              <div className={styles.canvas}>
                <Canvas />
              </div>
              <section className={styles.drawer} aria-label={t("monitor.details")}>
                <DrawerHandle height={height} onHeight={setHeight} />
                <Tabs
                  value={tabOf(search)}
                  onChange={showTab}
                  keepMounted={false}
                  style={{ display: "contents" }}
                >
                  <Tabs.List>
                    {DEPLOYMENT_TABS.map(({ id, title }) => (
                      <Tabs.Tab key={id} value={id}>
                        {t(title)}
                      </Tabs.Tab>
                    ))}
                  </Tabs.List>
                  <div className={styles.body}>
                    {DEPLOYMENT_TABS.map(({ id, component: Content }) => (
                      <Tabs.Panel key={id} value={id} className={styles.panel}>
                        <Content {...given} />
                      </Tabs.Panel>
                    ))}
                  </div>
                </Tabs>
              </section>
            </main>
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
