import { useQuery } from "@tanstack/react-query";
import { Fragment, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { getMetrics } from "../api/client";
import type { Deployment } from "../api/types";
import { count, rate, short } from "../text/count";
import { RelativeTime } from "../text/RelativeTime";
import { span } from "../text/span";
import styles from "./DeploymentPage.module.css";
import { addPoint, type Point } from "./points";
import { RateChart } from "./RateChart";

/** Rows per second over time, and what each segment says of itself now. */
export function OverviewTab({ deployment }: { deployment: Deployment }) {
  const { t } = useTranslation();
  const points = usePoints(deployment);
  const segments = deployment.metrics?.segments ?? {};
  return (
    <div className={styles.overview}>
      <RateChart points={points} />
      <dl className={styles.numbers}>
        {deployment.segments.map(({ id, mode, reason }) => {
          const now = segments[id];
          const lag = totalLag(now?.lag);
          return (
            <Fragment key={id}>
              <dt className={styles.segment} title={reason}>
                {id} · {t(`mode.${mode as "auto"}`)}
              </dt>
              {!now && <dt>{t("overview.nothing")}</dt>}
              {now?.rate != null && <Value label={t("overview.rate")} value={rate(now.rate)} />}
              {now?.lag && lag !== null && (
                <Value label={t("overview.lag")} value={count(lag)} title={lagText(now.lag)} />
              )}
              {now?.batch_ms != null && (
                <Value label={t("overview.batchTime")} value={span(now.batch_ms)} />
              )}
              {now?.batch != null && <Value label={t("overview.batch")} value={count(now.batch)} />}
              {now?.state_rows != null && now.state_rows > 0 && (
                <Value
                  label={t("overview.state")}
                  value={t("overview.stateOf", {
                    rows: short(now.state_rows),
                    bytes: short(now.state_bytes ?? 0),
                  })}
                />
              )}
              {now?.watermark && (
                <>
                  <dt>{t("overview.watermark")}</dt>
                  <dd>
                    <RelativeTime at={now.watermark} />
                  </dd>
                </>
              )}
            </Fragment>
          );
        })}
        <dt className={styles.segment}>{t("overview.disk")}</dt>
        {(["checkpoints", "runs"] as const).map((name) => (
          <Value
            key={name}
            label={t(`overview.${name}`)}
            value={t("overview.bytes", { size: short(deployment.disk[name]) })}
          />
        ))}
      </dl>
    </div>
  );
}

function Value({ label, value, title }: { label: string; value: string; title?: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd title={title}>{value}</dd>
    </>
  );
}

// A partition's lag is null while its end is not known.
type Lag = Record<string, number | null>;

function totalLag(lag: Lag | null | undefined): number | null {
  const known = Object.values(lag ?? {}).filter((rows) => rows !== null);
  return known.length > 0 ? known.reduce((sum, rows) => sum + rows, 0) : null;
}

function lagText(lag: Lag): string {
  return Object.entries(lag)
    .map(([partition, rows]) => `${partition}: ${rows === null ? "–" : count(rows)}`)
    .join("\n");
}

/** The points of the last hour, and each newer one as it comes. */
function usePoints(deployment: Deployment): Point[] {
  const { data } = useQuery({
    queryKey: ["metrics", deployment.id],
    queryFn: () => getMetrics({ path: { deployment_id: deployment.id } }),
    gcTime: 0,
  });
  const seen = useRef<Point[]>([]);
  const { metrics } = deployment;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new deployment begins a new line
  useEffect(() => {
    seen.current = [];
  }, [deployment.id]);
  const past = (data?.points ?? []).map(({ at, rate }) => ({ at: Date.parse(at) / 1000, rate }));
  if (metrics)
    seen.current = addPoint(seen.current, {
      at: Date.parse(metrics.at) / 1000,
      rate: metrics.rate,
    });
  const last = past.at(-1)?.at ?? 0;
  return [...past, ...seen.current.filter((point) => point.at > last)];
}
