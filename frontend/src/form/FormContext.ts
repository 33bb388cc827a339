import type { Column } from "../api/client";
import type { Config } from "../api/graph";

/** What the widgets of a step's form know besides their own value. */
export interface FormContext {
  /** The step's type. */
  type: string;
  config: Config;
  /** The columns that flow in, and by input port where there are several. */
  columns: KnownColumn[];
  byPort: Record<string, KnownColumn[]>;
}

export type KnownColumn = Pick<Column, "name"> & { type: string | null };
