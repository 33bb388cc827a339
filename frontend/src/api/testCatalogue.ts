import type { StepType } from "./stepTypes";
import stepTypes from "./stepTypes.json";

/** The catalogue as `GET /api/step-types` answered it when it was last written here, for tests. */
export const CATALOGUE = new Map(
  (stepTypes as unknown as StepType[]).map((type) => [type.type, type]),
);
