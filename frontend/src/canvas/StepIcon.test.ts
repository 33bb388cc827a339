import { expect, test } from "vitest";
import { CATALOGUE } from "../api/testCatalogue";
import { ICONS } from "./StepIcon";

test.each([...CATALOGUE.values()].map(({ type, icon }) => [type, icon]))(
  "%s has its picture, %s",
  (_, icon) => expect(ICONS).toHaveProperty(icon as string),
);
