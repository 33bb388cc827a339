import type { Config } from "../api/graph";
import type { Renames } from "./renameInText";

interface Pair {
  left: string;
  right: string;
}

/**
 * The renames among the columns that a join gives. A rename on one side may change what the other
 * side's column is called, too: equal names of a pair come out once, others get a prefix.
 */
export function joinRenames(
  before: Config,
  after: Config,
  byPort: Record<string, Renames>,
  names: Record<string, string[]>,
): Renames {
  const old = { left: names.left ?? [], right: names.right ?? [] };
  const now = { left: renamed(old.left, byPort.left), right: renamed(old.right, byPort.right) };
  const was = given(old, before);
  const is = given(now, after);
  const result: Renames = new Map();
  // The left's last: of two columns with one name, those below meant the left's.
  for (const side of ["right", "left"] as const)
    old[side].forEach((_, i) => {
      const from = was[side][i];
      const to = is[side][i] ?? now[side][i];
      if (from && to && from !== to) result.set(from.toLowerCase(), to);
    });
  return result;
}

function renamed(names: string[], renames: Renames | undefined): string[] {
  return names.map((name) => renames?.get(name.toLowerCase()) ?? name);
}

/** What each column of both sides is called behind the join; null where it does not come out. */
function given(names: { left: string[]; right: string[] }, config: Config) {
  const pairs = (Array.isArray(config.on) ? config.on : []) as Partial<Pair>[];
  const same = pairs.filter(({ left, right }) => left && lower(left) === lower(right));
  const once = new Set(same.map(({ left }) => lower(left)));
  const prefixes = (config.prefixes ?? {}) as Partial<Pair>;
  const inLeft = new Set(names.left.map(lower));
  const inRight = new Set(names.right.filter((name) => !isHidden(name)).map(lower));
  return {
    left: names.left.map((name) =>
      inRight.has(lower(name)) && !once.has(lower(name)) && !isHidden(name)
        ? (prefixes.left ?? "") + name
        : name,
    ),
    right: names.right.map((name) => {
      if (isHidden(name) || once.has(lower(name))) return null;
      return inLeft.has(lower(name)) ? (prefixes.right ?? "") + name : name;
    }),
  };
}

function isHidden(name: string): boolean {
  return name.startsWith("_");
}

function lower(name: string | undefined): string {
  return (name ?? "").toLowerCase();
}
