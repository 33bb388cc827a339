import { expect, test } from "vitest";
import type { MetricPoint, Metrics } from "../api/types";
import { addPoint, chartsOf, held, pointOf, summarize, UNITS } from "./series";

const WHOLE = { step: null, segments: null };
const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 5) + second * 1000).toISOString();
const start = Date.parse(at(0)) / 1000;

function point(second: number, has: Partial<MetricPoint> = {}): MetricPoint {
  return {
    at: at(second),
    rate: 0,
    lag: null,
    lag_seconds: null,
    latency_ms: null,
    restarts: 0,
    steps: {},
    segments: {},
    ...has,
  };
}

/** The charts as `{chart: {line: values}}`. */
function charts(points: MetricPoint[], scope: Parameters<typeof chartsOf>[1] = WHOLE) {
  const told = chartsOf(points, scope).map(({ id, lines }) => [
    id,
    Object.fromEntries(lines.map((line) => [line.id, line.values])),
  ]);
  return Object.fromEntries(told);
}

const two = point(0, {
  rate: 12,
  steps: { a: { in: 1, out: 1, dropped: 0, errors: 0, rate: 12 } },
  segments: {
    fast: { lag: 3, lag_seconds: 1, latency_ms: 5, latency_p99_ms: 9, batch_ms: null },
    slow: { lag: 40, lag_seconds: 6, latency_ms: 300, latency_p99_ms: 800, batch_ms: 1000 },
  },
});

test("of several segments the worst is shown, and the sum of what waits", () => {
  expect(charts([two])).toEqual({
    rate: { rows: [12] },
    latency: { p50: [300], p99: [800] },
    lag: { rows: [43] },
    waiting: { rows: [6] },
    batch: { rows: [1000] },
  });
});

test("of one step its own rate and its segments are shown, only what they tell", () => {
  expect(charts([two], { step: "a", segments: ["fast"] })).toEqual({
    rate: { rows: [12] },
    latency: { p50: [5], p99: [9] },
    lag: { rows: [3] },
    waiting: { rows: [1] },
  });
  expect(charts([two], { step: "unknown", segments: [] })).toEqual({ rate: { rows: [null] } });
});

test("nothing waiting is shown, since that is good to know", () => {
  const none = point(0, { segments: { s: { lag: 0, lag_seconds: 0 } } });
  expect(charts([none])).toMatchObject({ lag: { rows: [0] }, waiting: { rows: [0] } });
});

function counting(second: number, dropped: number, errors: number): MetricPoint {
  const step = { in: null, out: 0, dropped, errors, rate: 0 };
  return point(second, { steps: { a: step, b: { ...step, dropped: 0 } } });
}

test("what is left out is told per minute, by how its counts grow", () => {
  const told = [counting(0, 5, 1), counting(10, 7, 1), counting(30, 7, 3), counting(31, 1, 0)];
  expect(charts(told).left_out).toEqual({ dropped: [null, 12, 0, 60], errors: [null, 0, 12, 0] });
  expect(charts(told, { step: "b", segments: [] }).left_out).toEqual({
    dropped: [null, 0, 0, 0],
    errors: [null, 0, 6, 0],
  });
});

test("where nothing is left out there is no chart of it", () => {
  expect(charts([counting(0, 5, 1), counting(10, 5, 1)])).toEqual({ rate: { rows: [0, 0] } });
});

test.each([
  ["nothing", [], null],
  ["nothing known", [null, null], null],
  ["each value holds until the next", [10, 40, null, 0], { now: 0, peak: 40, mean: 25 }],
  ["the newest that is known", [10, null, null, null], { now: 10, peak: 10, mean: 10 }],
])("summary: %s", (_, values, expected) => {
  const moments = [0, 10, 20, 30].slice(0, values.length);
  expect(summarize(moments, values, 30)).toEqual(expected);
});

test("an idle hour after a busy second has a mean of nearly nothing", () => {
  expect(summarize([0, 1], [3600, 0], 3600)?.mean).toBe(1);
});

test.each([
  ["rate", 1234, "1.2k/s"],
  ["rows", 1_234_567, "1.2M"],
  ["bytes", 2048, "2kB"],
  ["milliseconds", 240, "240 ms"],
  ["seconds", 90, "2 min"],
  ["per_minute", 12, "12/min"],
] as const)("%s are written with their unit", (unit, value, text) =>
  expect(UNITS[unit](value)).toBe(text),
);

test("points only go forward, and only the newest are kept", () => {
  const points = [point(0), point(1)];
  expect(addPoint(points, point(1), 9)).toBe(points);
  expect(addPoint(points, point(2), 2)).toEqual([point(1), point(2)]);
});

/** The moments and rates of a line, in seconds from the start. */
function line(points: MetricPoint[]) {
  return points.map(({ at, rate }) => [Date.parse(at) / 1000 - start, rate]);
}

test.each([
  [
    "without gaps nothing is added",
    [
      [0, 1],
      [10, 2],
    ],
    10,
    null,
    [
      [0, 1],
      [10, 2],
    ],
  ],
  [
    "over a gap a value holds",
    [
      [0, 1],
      [100, 2],
    ],
    10,
    null,
    [
      [0, 1],
      [90, 1],
      [100, 2],
    ],
  ],
  [
    "until now the newest holds",
    [
      [0, 1],
      [1, 2],
    ],
    1,
    30,
    [
      [0, 1],
      [1, 2],
      [30, 2],
    ],
  ],
  [
    "what ended stays ended",
    [
      [0, 1],
      [1, 2],
    ],
    1,
    null,
    [
      [0, 1],
      [1, 2],
    ],
  ],
  ["nothing stays nothing", [], 1, 30, []],
] as const)("%s", (_, given, every, until, expected) => {
  const points = given.map(([second, rate]) => point(second, { rate }));
  expect(line(held(points, every, until === null ? null : start + until))).toEqual(expected);
});

test("the newest metrics become a point as the history tells it", () => {
  const metrics = {
    at: at(5),
    rate: 7,
    lag: 8,
    lag_seconds: 4,
    latency_ms: 20,
    restarts: 2,
    steps: {},
    segments: {
      s: {
        batch_ms: 90,
        latency_ms: { p50: 20, p99: 40 },
        lag: { "a-0": 3, "a-1": 5 },
        lag_seconds: { "a-0": null, "a-1": 4 },
        watermark_delay: 11,
        state_rows: 6,
        state_bytes: 600,
      },
      new: { lag: { "a-0": 3, "a-1": null } },
    },
  } as unknown as Metrics;
  const { segments, ...all } = pointOf(metrics);
  expect(all).toEqual({
    at: at(5),
    rate: 7,
    lag: 8,
    lag_seconds: 4,
    latency_ms: 20,
    restarts: 2,
    steps: {},
  });
  expect(segments.s).toEqual({
    batch_ms: 90,
    latency_ms: 20,
    latency_p99_ms: 40,
    lag: 8,
    lag_seconds: 4,
    watermark_delay: 11,
    state_rows: 6,
    state_bytes: 600,
  });
  // A sum of which a part is not known is not known.
  expect(segments.new).toMatchObject({ lag: null, lag_seconds: null, latency_ms: null });
});
