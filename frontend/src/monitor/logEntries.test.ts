import { expect, test } from "vitest";
import { folded, gist, type LogEntry, logEntries, matching } from "./logEntries";

const SPARK = `WARNING: Using incubator modules: jdk.incubator.vector
Setting default log level to "WARN".
26/11/21 13:30:13 INFO SparkContext: Running Spark
26/11/21 13:30:20 WARN Executor: Issue communicating with driver in heartbeater
org.apache.spark.SparkException: Exception thrown in awaitResult:
	at org.apache.spark.util.ThreadUtils$.awaitResult(ThreadUtils.scala:359)
Caused by: java.lang.RuntimeException: gone
	at java.base/java.lang.Thread.run(Thread.java:840)
26/11/21 13:30:21 ERROR MicroBatchExecution: Query counts terminated
java.lang.OutOfMemoryError: Java heap space
Traceback (most recent call last):
  File "job.py", line 3, in <module>
    spark.sql("nothing")
pyspark.errors.AnalysisException: no such column
plain words`.split("\n");

test("a stack belongs to what logged it, and is as bad", () => {
  const found = logEntries(SPARK).map(({ level, lines }) => [level, lines.length]);
  expect(found).toEqual([
    ["warning", 1],
    ["info", 1],
    ["info", 1],
    ["warning", 5],
    ["error", 2],
    ["error", 4],
    ["info", 1],
  ]);
});

test("no line gets lost", () => {
  expect(logEntries(SPARK).flatMap(({ lines }) => lines)).toEqual(SPARK);
});

test.each([
  ["all", 7],
  ["warnings", 4],
  ["errors", 2],
] as const)("of %s there are %d", (level, count) => {
  expect(matching(logEntries(SPARK), level, "")).toHaveLength(count);
});

test("words are found in any line of an entry, whatever their case", () => {
  const found = matching(logEntries(SPARK), "all", " GONE ");
  expect(found.map(({ lines }) => lines[0])).toEqual([SPARK[3]]);
  expect(matching(logEntries(SPARK), "errors", "gone")).toEqual([]);
});

test("a log that begins within a stack is shown as it is", () => {
  expect(logEntries(["\tat a.b(C.java:1)", "26/11/21 13:30:21 ERROR x"])).toEqual([
    { level: "info", lines: ["\tat a.b(C.java:1)"], isNoise: false },
    { level: "error", lines: ["26/11/21 13:30:21 ERROR x"], isNoise: false },
  ]);
});

test("what Spark says of itself is folded, what went wrong is not", () => {
  const shape = folded(logEntries(SPARK)).map((item) =>
    Array.isArray(item) ? item.length : "one",
  );
  expect(shape).toEqual([4, "one", "one", "one"]);
});

test("a stack is told by its first line and what it came from", () => {
  const told = logEntries(SPARK).map((entry) => gist(entry).length);
  expect(told).toEqual([1, 1, 1, 2, 1, 2, 1]);
  expect(gist(logEntries(SPARK)[5] as LogEntry)[1]).toBe(
    "pyspark.errors.AnalysisException: no such column",
  );
});
