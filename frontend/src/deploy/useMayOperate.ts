import type { Deployment } from "../api/types";
import { useMe } from "../shell/useMe";
import { mayOperate } from "./mayOperate";

/** Whether who is logged in may change what runs of a pipeline. */
export function useMayOperate(pipeline: Deployment["pipeline"]): boolean {
  return mayOperate(useMe().data ?? {}, pipeline);
}
