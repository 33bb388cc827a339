import { useMe } from "../shell/useMe";

/** Whether who is logged in may change what runs; the server has the last word. */
export function useMayOperate(): boolean {
  return useMe().data?.may.deployments ?? false;
}
