import { expect, test } from "vitest";
import { type Planned, topicsOf } from "./topicsOf";

const segment = {
  mode: "real_time" as const,
  reason: "",
  checkpoint: "",
  loads: false,
  slots: null,
};
const plan: Planned = {
  segments: [
    { ...segment, id: "one", steps: ["views", "counts"], reads: [], writes: ["between"] },
    { ...segment, id: "two", steps: ["joined", "out", "shown"], reads: ["between"], writes: [] },
    { ...segment, id: "three", steps: ["made"], reads: [], writes: [] },
    { ...segment, id: "aside", steps: ["views"], reads: [], writes: [] },
  ],
  topics: [
    { connection: "local", step: "views", use: "read", pattern: "views-.*" },
    { connection: "local", step: "views", use: "dead_letters", topic: "bad" },
    { connection: "local", step: "out", use: "write", topic: "named" },
    { connection: "local", step: "shown", use: "console", topic: "seen" },
  ],
};

test.each([
  [
    "one",
    [
      { use: "reads", topics: ["views-.*"] },
      { use: "writes", topics: ["between"] },
    ],
  ],
  [
    "two",
    [
      { use: "reads", topics: ["between"] },
      { use: "writes", topics: ["named"] },
      { use: "console", topics: ["seen"] },
    ],
  ],
  ["three", []],
  [
    "aside",
    [
      { use: "reads", topics: ["views-.*"] },
      { use: "dead_letters", topics: ["bad"] },
    ],
  ],
])("the topics of segment %s", (id, topics) => {
  const found = plan.segments.find((part) => part.id === id);
  expect(found && topicsOf(plan, found)).toEqual(topics);
});
