import type { Config } from "../api/graph";

export interface TypedColumn {
  name: string;
  type: string;
}

/** A column of a sample or of the step, and what is to be done with it. */
export interface Proposal extends TypedColumn {
  /** `new` in the step; `same` in both; `retyped`: the step says `was`; `missing` in the sample. */
  state: "new" | "same" | "retyped" | "missing";
  was: string | null;
  taken: boolean;
}

/** The columns of a step beside those a sample seems to have; what is new is taken at first. */
export function proposals(config: Config, sampled: TypedColumn[]): Proposal[] {
  const there = columnsOf(config);
  const old = new Map(there.map(({ name, type }) => [name.toLowerCase(), type ?? "string"]));
  const inSample = new Set(sampled.map(({ name }) => name.toLowerCase()));
  return [
    ...sampled.map((column): Proposal => {
      const was = old.get(column.name.toLowerCase()) ?? null;
      const state = was === null ? "new" : was === column.type ? "same" : "retyped";
      // The type that somebody chose stays, unless they choose anew.
      return { ...column, state, was, taken: state === "new" };
    }),
    ...there
      .filter(({ name }) => !inSample.has(name.toLowerCase()))
      .map(({ name, type = "string" }): Proposal => {
        return { name, type, state: "missing", was: type, taken: false };
      }),
  ];
}

/** What a sample that names no columns has, under the names that the step has for these places. */
export function namedByPlace(config: Config, sampled: TypedColumn[]): TypedColumn[] {
  const there = columnsOf(config);
  return sampled.map((column, place) => ({ ...column, name: there[place]?.name || column.name }));
}

/** A step's config with the proposals that were taken: types replaced, new columns at the end. */
export function withProposals(config: Config, proposed: Proposal[]): Config {
  const taken = new Map(
    proposed.filter((p) => p.taken).map(({ name, type }) => [name.toLowerCase(), { name, type }]),
  );
  const kept = columnsOf(config).map((column) => {
    const found = taken.get(column.name.toLowerCase());
    taken.delete(column.name.toLowerCase());
    return found ? { ...column, type: found.type } : column;
  });
  return { ...config, columns: [...kept, ...taken.values()] };
}

/** The columns of a config that have a name yet. */
function columnsOf(config: Config): { name: string; type?: string }[] {
  const listed = Array.isArray(config.columns) ? config.columns : [];
  return listed.filter((column) => typeof column?.name === "string" && column.name !== "");
}
