import { useEffect, useRef } from "react";
import type { StoreApi } from "zustand";
import type { Deployment } from "../api/types";
import type { LiveState } from "./liveStore";
import { addSample, lagsOf, type Sample, waitingIn } from "./waiting";

/** Put on the canvas where rows of a deployment wait, and how fast its segments are. */
export function useWaiting(live: StoreApi<LiveState>, deployment: Deployment): void {
  const samples = useRef<Sample[]>([]);
  const { graph, segments, metrics, state } = deployment;
  useEffect(() => {
    if (!metrics || state !== "running") {
      samples.current = [];
      live.setState({ waiting: {}, latency: {} });
      return;
    }
    const at = Date.parse(metrics.at) / 1000;
    samples.current = addSample(samples.current, { at, lags: lagsOf(graph, segments, metrics) });
    const latency = Object.entries(metrics.segments).flatMap(([id, now]) =>
      now.latency_ms ? [[id, now.latency_ms.p50] as const] : [],
    );
    live.setState({
      waiting: waitingIn(samples.current),
      latency: Object.fromEntries(latency),
    });
  }, [live, graph, segments, metrics, state]);
}
