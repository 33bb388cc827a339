import type { EnvironmentIn, EnvironmentOut } from "../api/client";
import { ApiError } from "../api/session";
import type { Problem } from "../api/types";

/** Two texts that belong together, as a row of the form; `id` tells rows apart while they move. */
export interface Pair {
  id: number;
  name: string;
  value: string;
}

/** An environment while it is being written. */
export interface EnvironmentForm {
  name: string;
  connections: Pair[];
  master: string;
  cores: number | "";
  driverMemory: string;
  executorMemory: string;
  conf: Pair[];
  masks: string[];
}

let newest = 0;

export function newPair(name = "", value = ""): Pair {
  newest += 1;
  return { id: newest, name, value };
}

/** What the form shows of an environment, or of a new one. */
export function formOf(environment?: EnvironmentOut): EnvironmentForm {
  const profile = environment?.profile;
  return {
    name: environment?.name ?? "",
    connections: pairs(environment?.connections),
    master: profile?.master ?? "",
    cores: profile?.cores ?? "",
    driverMemory: profile?.driver_memory ?? "",
    executorMemory: profile?.executor_memory ?? "",
    conf: pairs(profile?.conf),
    masks: environment?.masks ?? [],
  };
}

/** What the form asks of the API; rows that are empty on both sides are left out. */
export function bodyOf(form: EnvironmentForm): EnvironmentIn {
  return {
    name: form.name,
    connections: record(form.connections),
    profile: {
      master: form.master.trim(),
      cores: form.cores === "" ? null : form.cores,
      driver_memory: form.driverMemory.trim(),
      executor_memory: form.executorMemory.trim(),
      conf: record(form.conf),
    },
    masks: form.masks,
  };
}

/** What the API says against a form, by field: `master`, `conf.spark.network.timeout`. */
export function faultsOf(error: unknown): Record<string, string> {
  const problems = error instanceof ApiError ? ((error.answer.problems ?? []) as Problem[]) : [];
  const faults: Record<string, string> = {};
  for (const { field, message } of problems) {
    const at = (field ?? "").replace(/^profile\./, "");
    faults[at] = faults[at] ? `${faults[at]} ${message}` : message;
  }
  return faults;
}

function pairs(record: Record<string, string> = {}): Pair[] {
  return Object.entries(record).map(([name, value]) => newPair(name, value));
}

function record(pairs: Pair[]): Record<string, string> {
  const given = pairs.filter(({ name, value }) => name.trim() !== "" || value.trim() !== "");
  return Object.fromEntries(given.map(({ name, value }) => [name.trim(), value.trim()]));
}
