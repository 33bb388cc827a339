import { expect, test } from "vitest";
import { faultsIn, mended, placesOf, readMistake } from "./mistake";

test.each([
  ["There is no column amont. Did you mean amount?", { wrong: "amont", right: "amount" }],
  [
    "There is no column unit pric. Did you mean unit price?",
    { wrong: "unit pric", right: "unit price" },
  ],
  ["There is no column amont. There are: a, b.", { wrong: "amont", right: null }],
  ["There is no column amont.", { wrong: "amont", right: null }],
  ["On the left: There is no column usr. Did you mean user?", { wrong: "usr", right: "user" }],
  [
    "uper is no function that expressions may call. Did you mean upper?",
    { wrong: "uper", right: "upper" },
  ],
  ["Write an expression.", null],
])("%s", (sentence, mistake) => expect(readMistake(sentence)).toEqual(mistake));

test("a name is found as a name only", () => {
  const text = "amont > 'amont' and `amont` < Amont + amonts";
  expect(placesOf(text, "amont").map(({ from, to }) => text.slice(from, to))).toEqual([
    "amont",
    "`amont`",
    "Amont",
  ]);
});

test.each([
  ["lower(amont) = 'amont'", "amont", "amount", "lower(amount) = 'amont'"],
  ["user.nam = 1", "user.nam", "user.name", "user.name = 1"],
  ["uper(a)", "uper", "upper", "upper(a)"],
  ["a + 1", "b", "c", null],
])("in %s, %s becomes %s", (text, wrong, right, result) =>
  expect(mended(text, wrong, right)).toBe(result),
);

test.each([
  ["There is no column amont.", "amont > 1", ["amont"]],
  ["There is no field citty. Did you mean city?", "address.citty", ["citty"]],
  ["lower takes 1 arguments, not 2.", "lower(user, 2) > lower", ["lower", "lower"]],
  [
    "In size(address): The first parameter must be an array.",
    "size(address) > 1",
    ["size(address)"],
  ],
  ['Can\'t extract a value from "user". Need a complex type.', "user.x = 1", ["user"]],
  ["This is no complete expression near >: something is missing.", "a > b >", [">"]],
  ["This is no complete expression; look for a missing quote or parenthesis.", "'a", []],
])("by %s in %s is underlined %j", (sentence, text, pieces) =>
  expect(faultsIn(text, [sentence]).map(({ from, to }) => text.slice(from, to))).toEqual(pieces),
);
