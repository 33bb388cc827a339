import type {
  AlertOut,
  CheckedStep,
  CheckOut,
  DeploymentListed,
  DeploymentOut,
  ErrorOut,
  History,
  Metrics,
  MissingTopic,
  PipelineOut,
  ProblemOut,
  Segment,
  TemplateOut,
} from "./client";
import type { Graph } from "./graph";

// The API describes a graph as any object; the canvas knows what is in it.
export type Pipeline = Omit<PipelineOut, "graph"> & { graph: Graph };
export type Template = Omit<TemplateOut, "graph"> & { graph: Graph };
export type Deployment = Omit<DeploymentOut, "graph"> & { graph: Graph };
export type { CheckedStep, CheckOut, DeploymentListed, ErrorOut, Metrics, MissingTopic, Segment };
export type Problem = ProblemOut;
export type Mode = "real_time" | "micro_batch";
export type ChosenMode = DeploymentListed["mode"];
export type DeploymentState = DeploymentListed["state"];
export type MetricPoint = History["points"][number];
export type StepMetrics = Metrics["steps"][string];
export type Rows = Record<string, unknown>[];

/** What a websocket tells of a deployment, as the job or the control worker said it. */
export type DeploymentEvent = { at: string } & (
  | {
      type: "state";
      state: DeploymentState;
      message: string;
      step: string | null;
      desired?: "running" | "stopped";
      missing_topics?: MissingTopic[];
    }
  | ({ type: "metrics" } & Omit<Metrics, "at">)
  | { type: "sample"; step: string; rows: Rows }
  | ({ type: "problem"; topic?: string } & Problem)
  | { type: "alert"; alert: AlertOut }
  | { type: "log"; level: string; message: string }
);

export type ListedEvent = DeploymentEvent & { deployment: string };
