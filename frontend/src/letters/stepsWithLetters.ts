import type { Step } from "../api/graph";

const READS_TOPICS = new Set(["kafka_source", "kafka_table"]);
// Any record is one of these.
const READS_ANYTHING = new Set(["text", "bytes"]);

/** The steps that put records which they can't read into a topic of their own. */
export function stepsWithLetters(steps: Step[]): Step[] {
  return steps.filter(
    ({ type, config }) =>
      READS_TOPICS.has(type) &&
      !READS_ANYTHING.has(String(config.format ?? "json")) &&
      (config.on_bad_record ?? "dead_letter") === "dead_letter",
  );
}
