import type { RJSFSchema } from "@rjsf/utils";
import type { Kind } from "./graph";

/** One entry of the catalogue: what the palette, the form and the canvas need of a step type. */
export interface StepType {
  type: string;
  title: string;
  help: string;
  group: Group;
  icon: string;
  inputs: InputPort[];
  outputs: string[];
  /** The field of the config that names its outputs, besides `otherwise`. */
  outputs_from: string | null;
  /** The field of the config whose query names its inputs, by the tables it reads. */
  inputs_from: string | null;
  real_time: boolean;
  schema: RJSFSchema;
}

export interface InputPort {
  name: string;
  kinds: Kind[];
  many: boolean;
}

export const GROUPS = ["Sources", "Rows", "State", "Sinks"] as const;
export type Group = (typeof GROUPS)[number];
