import type { ParseKeys } from "i18next";
import type { ComponentType } from "react";
import type { Deployment } from "../api/types";
import type { Catalogue } from "../canvas/ports";
import { LettersTab } from "../letters/LettersTab";
import { StateTab } from "../state/StateTab";
import { ActivityTab } from "./ActivityTab";
import { LogsTab } from "./LogsTab";
import { OverviewTab } from "./OverviewTab";
import { RowsTab } from "./RowsTab";
import { RunsTab } from "./RunsTab";
import { VersionsTab } from "./VersionsTab";

/** What each tab of a deployment's page is given; it takes what it needs. */
export interface DeploymentTabProps {
  deployment: Deployment;
  catalogue: Catalogue;
  /** Which run's log is shown; null follows the newest. */
  epoch: number | null;
  onEpoch: (epoch: number | null) => void;
  /** Go to the log of a run. */
  onLog: (epoch: number) => void;
  /** Ask for a version to be deployed. */
  onDeploy: (version: number) => void;
}

interface DeploymentTab {
  /** Its name in the page's address, as in `?tab=logs`. */
  id: string;
  title: ParseKeys;
  component: ComponentType<DeploymentTabProps>;
}

/** The tabs below a deployment's canvas, in their order; the first is the one that opens. */
export const DEPLOYMENT_TABS: readonly DeploymentTab[] = [
  { id: "overview", title: "monitor.overview", component: OverviewTab },
  { id: "rows", title: "monitor.rows", component: RowsTab },
  { id: "state", title: "monitor.state", component: StateTab },
  { id: "letters", title: "letters.name", component: LettersTab },
  { id: "logs", title: "monitor.logs", component: LogsTab },
  { id: "runs", title: "monitor.runs", component: RunsTab },
  { id: "versions", title: "monitor.versions", component: VersionsTab },
  { id: "activity", title: "monitor.activity", component: ActivityTab },
];
