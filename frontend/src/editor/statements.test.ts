import { expect, test } from "vitest";
import { statementsOf } from "./statements";

const SCRIPT = `from pyspark.sql import functions as F

# Page views
views_records = (
    spark.readStream

    .load()
)

views = (
    views_records.select("a")
    .observe("views", F.count("*").alias("rows"))
)

def tidy_function():
    def tidy(row):
        return row

    return tidy

tidy = views.mapInArrow(tidy_function)

tidy_words = tidy.select("word")

big = F.when(
    F.expr("a > 1"),
)

# One query writes big, small, so that its rows are read once.
(
    tidy.observe("priced", F.count("*"))
    .observe("small", F.count("*"))
    .start()
)

write_small.trigger()
`;
const STEPS = ["views", "tidy", "tidy_words", "big", "small", "priced"];
const text = (step: string) =>
  statementsOf(SCRIPT, step, STEPS).map(({ from, to }) => {
    const lines = SCRIPT.split("\n");
    return [lines[from - 1], lines[to - 1]];
  });

test.each([
  [
    "views",
    [
      ["# Page views", ")"],
      ["views = (", ")"],
    ],
  ],
  [
    "tidy",
    [
      ["def tidy_function():", "    return tidy"],
      ["tidy = views.mapInArrow(tidy_function)", "tidy = views.mapInArrow(tidy_function)"],
    ],
  ],
  ["tidy_words", [['tidy_words = tidy.select("word")', 'tidy_words = tidy.select("word")']]],
  ["big", [["big = F.when(", ")"]]],
  ["small", [["# One query writes big, small, so that its rows are read once.", ")"]]],
  ["priced", [["# One query writes big, small, so that its rows are read once.", ")"]]],
  ["gone", []],
])("the statements of %s", (step, lines) => expect(text(step)).toEqual(lines));
