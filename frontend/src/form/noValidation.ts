import type { ValidatorType } from "@rjsf/utils";
import type { Config } from "../api/graph";

/**
 * A validator that finds nothing. What is wrong with a config says `POST /api/check`, with the
 * whole graph in view; and one that compiles schemas would need `eval`, which the page forbids.
 */
export const noValidation: ValidatorType<Config> = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: () => true,
  rawValidation: () => ({ errors: [] }),
};

export default noValidation;
