import type { AlertOut } from "../api/client";

/** Alerts in the order in which they need somebody: still to look after, critical, oldest. */
export function worstFirst(alerts: AlertOut[]): AlertOut[] {
  return [...alerts].sort(
    (a, b) =>
      Number(isLookedAfter(a)) - Number(isLookedAfter(b)) ||
      Number(b.severity === "critical") - Number(a.severity === "critical") ||
      a.began_at.localeCompare(b.began_at),
  );
}

/** Those that nobody looks after and nobody has silenced. */
export function toLookAfter(alerts: AlertOut[]): AlertOut[] {
  return alerts.filter((alert) => !isLookedAfter(alert));
}

function isLookedAfter({ acknowledged_at, silenced_until }: AlertOut): boolean {
  return acknowledged_at !== null || silenced_until !== null;
}
