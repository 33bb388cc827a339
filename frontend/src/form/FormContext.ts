import type { Column } from "../api/client";
import type { Config, Kind } from "../api/graph";

/** What the widgets of a step's form know besides their own value. */
export interface FormContext {
  /** The step's type. */
  type: string;
  config: Config;
  /** Whether rows begin here: columns to choose from are then those it declares. */
  begins: boolean;
  /** The columns that flow in, and by input port where there are several. */
  columns: KnownColumn[];
  byPort: Record<string, KnownColumn[]>;
  /** By input port, what flows in, as far as that is certain. */
  kinds: Record<string, Kind>;
  /** Change the config by more than the one field that a widget edits. */
  change: (config: Config, field: string) => void;
}

export type KnownColumn = Pick<Column, "name"> & { type: string | null };
