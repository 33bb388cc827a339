import type { Held } from "../api/client";

/** Who is logged in, as far as it matters for what they may do. */
export interface Allowed {
  superuser?: boolean;
  roles?: Held[];
}

const OPERATES = new Set<Held["role"]>(["operator", "admin"]);

/** Whether somebody may change what runs of a pipeline; the server has the last word. */
export function mayOperate(
  { superuser = false, roles = [] }: Allowed,
  pipeline: { id: string; folder: string },
): boolean {
  return superuser || roles.some((held) => OPERATES.has(held.role) && reaches(held, pipeline));
}

function reaches({ folder, pipeline }: Held, { id, ...on }: { id: string; folder: string }) {
  if (pipeline !== null) return pipeline === id;
  return folder === null || folder === on.folder;
}
