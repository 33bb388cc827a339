import { IconCloudOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getHealth, type Health } from "../api/client";
import type { Graph } from "../api/graph";
import { ApiError } from "../api/session";
import styles from "./DeploymentPage.module.css";
import { type Delay, delaysOf } from "./delays";

const ASK_MS = 10_000;

/** What is away at the moment, what that delays, and that it comes back by itself. */
export function Delays({ graph }: { graph: Graph }) {
  const { t } = useTranslation();
  const delays = useDelays(graph);
  return (
    <div role="status" data-testid="delays">
      {delays.map(({ away, message }) => (
        <p key={away} className={styles.delay} data-away={away}>
          <IconCloudOff size={15} aria-hidden />
          <span>
            <b>{message || t(`delays.${away}`)}</b> {t(`delays.${away}Means`)}
          </span>
        </p>
      ))}
    </div>
  );
}

function useDelays(graph: Graph): Delay[] {
  const health = useQuery({
    queryKey: ["health"],
    queryFn: askHealth,
    refetchInterval: ASK_MS,
    staleTime: 0,
    retry: false,
  });
  if (health.error) return [{ away: "headrace", message: "" }];
  return health.data ? delaysOf(health.data, graph) : [];
}

/** Health as Headrace says it, which it also does while it can do nothing else. */
async function askHealth({ signal }: { signal: AbortSignal }): Promise<Health> {
  try {
    return await getHealth({ signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 503 && "checks" in error.answer)
      return error.answer as unknown as Health;
    throw error;
  }
}
