import { useTranslation } from "react-i18next";
import type { Metrics, Segment } from "../api/types";
import { count, rate, short } from "../text/count";
import { RelativeTime } from "../text/RelativeTime";
import { span } from "../text/span";
import styles from "./OverviewTab.module.css";
import { highestOf, sumOf } from "./series";

type SegmentMetrics = Metrics["segments"][string];

interface Props {
  segment: Segment;
  now: SegmentMetrics | undefined;
}

/** What one segment says of itself now, and what waits for it in each partition. */
export function SegmentNow({ segment, now }: Props) {
  const { t } = useTranslation();
  const { id, mode, reason } = segment;
  return (
    <section className={styles.segment} data-segment-now={id}>
      <h3 title={reason}>
        {id} · {t(`mode.${mode as "auto"}`)}
      </h3>
      {!now && <p>{t("overview.nothing")}</p>}
      {now && (
        <>
          <dl className={styles.numbers}>
            {numbersOf(now).map(([name, value]) => (
              <div key={name} data-number={name}>
                <dt>{t(`overview.${name}`)}</dt>
                <dd>{value}</dd>
              </div>
            ))}
            {now.watermark && (
              <div>
                <dt>{t("overview.watermark")}</dt>
                <dd>
                  <RelativeTime at={now.watermark} />
                </dd>
              </div>
            )}
          </dl>
          <BatchParts parts={now.batch_parts} />
          <Partitions lag={now.lag} late={now.lag_seconds} />
        </>
      )}
    </section>
  );
}

type Name = "rate" | "latency" | "lag" | "oldest" | "batch" | "batchTime" | "state";

/** What is known of a segment, by name, as text. */
function numbersOf(now: SegmentMetrics): [Name, string][] {
  const lag = sumOf(now.lag);
  const oldest = highestOf(now.lag_seconds);
  const { latency_ms: latency, state_rows: state } = now;
  const found: [Name, string | null][] = [
    ["rate", now.rate == null ? null : rate(now.rate)],
    ["latency", latency ? `${span(latency.p50)} · ${span(latency.p99)}` : null],
    ["lag", lag === null ? null : count(lag)],
    ["oldest", oldest ? span(oldest * 1000) : null],
    ["batch", now.batch == null ? null : count(now.batch)],
    ["batchTime", now.batch_ms == null ? null : span(now.batch_ms)],
    ["state", state ? `${short(state)} · ${short(now.state_bytes ?? 0)}B` : null],
  ];
  return found.filter((pair): pair is [Name, string] => pair[1] !== null);
}

/** Where the time of the last batch went. */
function BatchParts({ parts }: { parts: Record<string, number> | null | undefined }) {
  const { t } = useTranslation();
  const known = Object.entries(parts ?? {}).filter(([, ms]) => ms > 0);
  if (known.length === 0) return null;
  return (
    <ul className={styles.parts} aria-label={t("overview.batchParts")}>
      {known
        .sort(([, a], [, b]) => b - a)
        .map(([name, ms]) => (
          <li key={name} style={{ flexGrow: ms }}>
            {name.replaceAll("_", " ")} <b>{span(ms)}</b>
          </li>
        ))}
    </ul>
  );
}

type ByPartition = Record<string, number | null> | null | undefined;

/** What waits in each partition, most first. */
function Partitions({ lag, late }: { lag: ByPartition; late: ByPartition }) {
  const { t } = useTranslation();
  const rows = Object.entries(lag ?? {}).sort(([, a], [, b]) => (b ?? -1) - (a ?? -1));
  if (rows.length === 0) return null;
  return (
    <details className={styles.partitions} open={rows.length <= 4}>
      <summary>{t("overview.partitions", { count: rows.length })}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("overview.partition")}</th>
            <th scope="col">{t("overview.ofPartition.lag")}</th>
            <th scope="col">{t("overview.ofPartition.oldest")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([partition, waiting]) => (
            <tr key={partition} data-partition={partition}>
              <th scope="row">{partition}</th>
              <td>{waiting === null ? "–" : count(waiting)}</td>
              <td>{late?.[partition] ? span(late[partition] * 1000) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
