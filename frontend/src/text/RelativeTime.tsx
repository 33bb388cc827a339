import { Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago a moment was, in words: `3 minutes ago`; `now` within a few seconds. */
export function ago(at: Date, now: Date): string {
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const seconds = (at.getTime() - now.getTime()) / 1000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
  }
  return Math.abs(seconds) < 5
    ? words.format(0, "second")
    : words.format(Math.trunc(seconds), "second");
}

/** A moment, relative to now and kept so; the exact time on hover. */
export function RelativeTime({ at }: { at: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 15_000);
    return () => clearInterval(timer);
  }, []);
  const moment = new Date(at);
  const exact = moment.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  return (
    <Tooltip label={exact}>
      <time dateTime={at}>{ago(moment, now > moment ? now : moment)}</time>
    </Tooltip>
  );
}
