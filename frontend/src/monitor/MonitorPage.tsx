import { Button, SegmentedControl, Skeleton, TextInput } from "@mantine/core";
import { IconDeviceTv, IconSearch, IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router";
import { OpenAlerts } from "../alerts/OpenAlerts";
import type { DeploymentListed } from "../api/types";
import { Page } from "../shell/Page";
import { useTitle } from "../shell/useTitle";
import { rate, short } from "../text/count";
import styles from "./MonitorPage.module.css";
import { MonitorRow } from "./MonitorRow";
import { useDeployments } from "./useDeployments";
import { NO_HISTORY, useHistories } from "./useHistories";
import { chosen, inTrouble, SHOWN, type Shown, totals, worstFirst } from "./worstFirst";

const COLUMNS = ["deployment", "state", "rate", "lag", "latency", "restarts"] as const;
const NUMBERS = new Set<string>(["latency", "restarts"]);

/** Every deployment at a glance, worst first; with `?screen=1` for a screen on the wall. */
export function MonitorPage() {
  const { t } = useTranslation();
  const [asked, setAsked] = useSearchParams();
  const { state: deployments, live } = useDeployments();
  const screen = asked.get("screen") === "1";
  useTitle(t("nav.monitor"));

  function ask(name: string, value: string) {
    setAsked(
      (now) => {
        if (value) now.set(name, value);
        else now.delete(name);
        return now;
      },
      { replace: true },
    );
  }

  function enter() {
    ask("screen", "1");
    // Where a browser refuses, the page is as large as its window.
    document.documentElement.requestFullscreen?.().catch(() => {});
  }

  function leave() {
    ask("screen", "");
    if (document.fullscreenElement) void document.exitFullscreen();
  }

  const bar = (
    <div className={styles.bar}>
      <h1>{t("nav.monitor")}</h1>
      {!live && <span className={styles.offline}>{t("monitor.offline")}</span>}
      <TextInput
        w={220}
        type="search"
        leftSection={<IconSearch size={15} aria-hidden />}
        placeholder={t("watch.search")}
        aria-label={t("watch.search")}
        value={asked.get("search") ?? ""}
        onChange={(event) => ask("search", event.currentTarget.value)}
      />
      <SegmentedControl
        aria-label={t("watch.show")}
        data={SHOWN.map((value) => ({ value, label: t(`watch.shown.${value}`) }))}
        value={shownOf(asked)}
        onChange={(value) => ask("show", value === "all" ? "" : value)}
      />
      <Button
        variant="default"
        leftSection={<IconDeviceTv size={14} aria-hidden />}
        onClick={enter}
      >
        {t("watch.screen")}
      </Button>
    </div>
  );
  const content = (
    <>
      <OpenAlerts />
      {deployments ? (
        <Deployments
          deployments={deployments}
          shown={shownOf(asked)}
          search={asked.get("search")}
        />
      ) : (
        <Skeleton h={220} radius="md" />
      )}
    </>
  );
  return screen ? (
    <Screen live={live} onLeave={leave}>
      {content}
    </Screen>
  ) : (
    <Page>
      {bar}
      {content}
    </Page>
  );
}

function shownOf(asked: URLSearchParams): Shown {
  return SHOWN.find((name) => name === asked.get("show")) ?? "all";
}

interface ScreenProps {
  live: boolean;
  onLeave: () => void;
  children: ReactNode;
}

/** Nothing but the deployments, large enough to be read from across a room. */
function Screen({ live, onLeave, children }: ScreenProps) {
  const { t } = useTranslation();
  useEffect(() => {
    const leave = (event: KeyboardEvent) => event.key === "Escape" && onLeave();
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  });
  return (
    <main className={styles.screen} data-testid="big-screen">
      <div className={styles.bar}>
        <h1>{t("nav.monitor")}</h1>
        {!live && <span className={styles.offline}>{t("monitor.offline")}</span>}
        <Button variant="subtle" leftSection={<IconX size={14} aria-hidden />} onClick={onLeave}>
          {t("watch.leaveScreen")}
        </Button>
      </div>
      {children}
    </main>
  );
}

interface Props {
  deployments: DeploymentListed[];
  shown: Shown;
  search: string | null;
}

function Deployments({ deployments, shown, search }: Props) {
  const { t } = useTranslation();
  const histories = useHistories();
  const rows = useMemo(
    () => worstFirst(chosen(deployments, shown, search ?? "")),
    [deployments, shown, search],
  );
  const all = totals(deployments);
  const trouble = deployments.filter(inTrouble).map(({ pipeline }) => pipeline.name);
  if (deployments.length === 0) return <p>{t("watch.none")}</p>;
  return (
    <>
      <p className="visually-hidden" role="status">
        {trouble.length > 0
          ? t("watch.inTrouble", { count: trouble.length, names: trouble.join(", ") })
          : t("watch.allWell")}
      </p>
      <dl className={styles.totals}>
        <Total name="running" value={String(all.running)} />
        <Total name="trouble" value={String(all.trouble)} bad={all.trouble > 0} />
        <Total name="rate" value={rate(all.rate)} />
        <Total name="lag" value={short(all.lag)} />
      </dl>
      {rows.length === 0 ? (
        <p>{t("watch.noneFound")}</p>
      ) : (
        <div className={styles.frame}>
          <table className={styles.table} aria-label={t("watch.table")}>
            <thead>
              <tr>
                {COLUMNS.map((name) => (
                  <th key={name} scope="col" data-number={NUMBERS.has(name)}>
                    {t(`watch.columns.${name}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((deployment) => (
                <MonitorRow
                  key={deployment.id}
                  deployment={deployment}
                  history={histories.of[deployment.id] ?? NO_HISTORY}
                  from={histories.from}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

interface TotalProps {
  name: "running" | "trouble" | "rate" | "lag";
  value: string;
  bad?: boolean;
}

function Total({ name, value, bad = false }: TotalProps) {
  const { t } = useTranslation();
  return (
    <div data-total={name} data-bad={bad}>
      <dt>{t(`watch.totals.${name}`)}</dt>
      <dd>{value}</dd>
    </div>
  );
}
