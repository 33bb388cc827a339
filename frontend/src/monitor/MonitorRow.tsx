import { memo } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { DeploymentListed } from "../api/types";
import { rate, short } from "../text/count";
import { span } from "../text/span";
import styles from "./MonitorPage.module.css";
import { Sparkline } from "./Sparkline";
import { StateBadge } from "./StateBadge";
import { seconds } from "./series";
import type { Moment } from "./useHistories";
import { LATE_SECONDS } from "./worstFirst";

interface Props {
  deployment: DeploymentListed;
  history: Moment[];
  /** Where the lines begin, in seconds since 1970. */
  from: number;
}

const SAYS_WHY = new Set<DeploymentListed["state"]>(["failed", "backing_off"]);

/** One deployment of the monitor; drawn anew only where something of it has changed. */
export const MonitorRow = memo(function MonitorRow({ deployment, history, from }: Props) {
  const { t } = useTranslation();
  const { id, pipeline, environment, state, message, metrics } = deployment;
  const runs = state === "running";
  const oldest = metrics?.lag_seconds ?? 0;
  const late = oldest >= LATE_SECONDS;
  const perSecond = metrics && (runs ? metrics.rate : 0);
  return (
    <tr data-deployment={id} data-state={state}>
      <th scope="row">
        <Link to={`/deployments/${id}`} className={styles.name}>
          {pipeline.name}
        </Link>
        <div className={styles.small}>
          {[pipeline.folder, environment === "default" ? "" : environment]
            .filter(Boolean)
            .join(" · ")}
        </div>
      </th>
      <td>
        <StateBadge state={state} message={message} />
        {SAYS_WHY.has(state) && <p className={styles.why}>{message}</p>}
      </td>
      <td>
        <div className={styles.lined}>
          <span data-measure="rate">{perSecond === null ? "–" : rate(perSecond)}</span>
          <Line of="rate" history={history} from={from} metrics={metrics} />
        </div>
      </td>
      <td>
        <div className={styles.lined} data-late={late}>
          <span data-measure="lag">
            {metrics?.lag == null ? "–" : short(metrics.lag)}
            {late && (
              <span className={styles.since}>
                {t("watch.oldest", { time: span(oldest * 1000) })}
              </span>
            )}
          </span>
          <Line of="lag" history={history} from={from} metrics={metrics} />
        </div>
      </td>
      <td data-number data-measure="latency">
        {metrics?.latency_ms == null ? "–" : span(metrics.latency_ms)}
      </td>
      <td data-number data-measure="restarts">
        {metrics?.restarts ?? "–"}
      </td>
    </tr>
  );
});

interface LineProps {
  of: "rate" | "lag";
  history: Moment[];
  from: number;
  metrics: DeploymentListed["metrics"];
}

function Line({ of, history, from, metrics }: LineProps) {
  const { t } = useTranslation();
  const points = history.map((moment) => ({ at: moment.at, value: moment[of] }));
  if (metrics && seconds(metrics) > (points.at(-1)?.at ?? 0))
    points.push({ at: seconds(metrics), value: metrics[of] ?? null });
  const highest = Math.max(0, ...points.map(({ value }) => value ?? 0));
  if (points.length < 2) return null;
  return (
    <Sparkline
      points={points}
      from={from}
      to={points.at(-1)?.at ?? from}
      label={t(`watch.line.${of}`, { highest: of === "rate" ? rate(highest) : short(highest) })}
    />
  );
}
