import { Autocomplete } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { fieldProps, placeholderOf } from "./fieldProps";

const UNITS = ["seconds", "minutes", "hours", "days"];
const USUAL = [
  "1 second",
  "5 seconds",
  "10 seconds",
  "30 seconds",
  "1 minute",
  "5 minutes",
  "15 minutes",
  "1 hour",
  "1 day",
];

/** A span of time as people write it: free text, with the usual ones offered. */
export function DurationWidget(props: WidgetProps) {
  const value = String(props.value ?? "");
  return (
    <Autocomplete
      {...fieldProps(props)}
      value={value}
      data={offers(value)}
      filter={({ options }) => options}
      placeholder={placeholderOf(props) ?? "10 seconds"}
      onChange={(next) => props.onChange(next || undefined)}
    />
  );
}

/** Spans worth offering for what is typed so far: `3` offers three of each unit. */
export function offers(typed: string): string[] {
  const number = /^\s*(\d+)\s*([a-z]*)\s*$/i.exec(typed);
  if (!number) return typed.trim() === "" ? USUAL : USUAL.filter((d) => d.startsWith(typed.trim()));
  const [, n = "", begun = ""] = number;
  const fitting = UNITS.filter((unit) => unit.startsWith(begun.toLowerCase()));
  return fitting.map((unit) => `${n} ${n === "1" ? unit.slice(0, -1) : unit}`);
}
