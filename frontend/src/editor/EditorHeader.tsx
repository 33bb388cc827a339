import { ActionIcon, Button, Tooltip, VisuallyHidden } from "@mantine/core";
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconCloudCheck,
  IconCloudOff,
  IconCloudUp,
  IconCommand,
  IconPlayerStopFilled,
  IconRocket,
} from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { useStore } from "zustand";
import { AlertBadge } from "../alerts/AlertBadge";
import type { DeploymentListed } from "../api/types";
import { useCheck } from "../canvas/CanvasContext";
import { useGraphStore } from "../canvas/graphStore";
import { StateBadge } from "../monitor/StateBadge";
import { TestButton } from "../rehearsal/TestButton";
import { Brand } from "../shell/Brand";
import styles from "../shell/Header.module.css";
import { UserMenu } from "../shell/UserMenu";
import type { SaveState } from "./autosave";

interface Props {
  name: string;
  onName: (name: string) => void;
  save: Pick<SaveState<unknown>, "status" | "message">;
  version: number | null;
  deployment: DeploymentListed | null;
  stopping: boolean;
  onProblems: () => void;
  onTest: () => void;
  onCancelTest: () => void;
  onDeploy: () => void;
  onStop: () => void;
  onSpotlight: () => void;
}

/** Above the canvas: whose drawing it is, whether it is saved and sound, what runs of it. */
export function EditorHeader(props: Props) {
  const { name, onName, save, version, deployment, stopping } = props;
  const { t } = useTranslation();
  const store = useGraphStore();
  const canUndo = useStore(store.history, (s) => s.pastStates.length > 0);
  const canRedo = useStore(store.history, (s) => s.futureStates.length > 0);
  const errors = useCheck((s) => s.problems.filter((p) => p.severity === "error").length);
  const warnings = useCheck((s) => s.problems.length) - errors;

  return (
    <header className={styles.header}>
      <Brand />
      <Link to="/" className={styles.crumb}>
        {t("nav.pipelines")} /
      </Link>
      <VisuallyHidden component="h1">{name}</VisuallyHidden>
      <input
        className={styles.name}
        aria-label={t("header.name")}
        value={name}
        maxLength={200}
        onChange={(event) => onName(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      />
      <Saved {...save} version={version} />
      {errors > 0 && (
        <button type="button" className={styles.pill} data-tone="bad" onClick={props.onProblems}>
          {t("canvas.problems", { count: errors })}
        </button>
      )}
      {errors === 0 && warnings > 0 && (
        <button type="button" className={styles.pill} data-tone="warn" onClick={props.onProblems}>
          {t("canvas.warnings", { count: warnings })}
        </button>
      )}
      <span className={styles.grow} />
      <Tooltip label={t("action.undo")}>
        <ActionIcon aria-label={t("action.undo")} disabled={!canUndo} onClick={store.undo}>
          <IconArrowBackUp size={17} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t("action.redo")}>
        <ActionIcon aria-label={t("action.redo")} disabled={!canRedo} onClick={store.redo}>
          <IconArrowForwardUp size={17} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t("action.spotlight")}>
        <ActionIcon aria-label={t("action.spotlight")} onClick={props.onSpotlight}>
          <IconCommand size={16} />
        </ActionIcon>
      </Tooltip>
      {deployment && (
        <Link
          to={`/deployments/${deployment.id}`}
          className={styles.pill}
          style={{ textDecoration: "none" }}
        >
          <StateBadge state={deployment.state} message={deployment.message} />
        </Link>
      )}
      {deployment?.desired === "running" && (
        <Button
          variant="default"
          leftSection={<IconPlayerStopFilled size={13} aria-hidden />}
          loading={stopping}
          onClick={props.onStop}
        >
          {t("deploy.stop")}
        </Button>
      )}
      <TestButton onTest={props.onTest} onCancel={props.onCancelTest} />
      <Button leftSection={<IconRocket size={14} aria-hidden />} onClick={props.onDeploy}>
        {t("deploy.open")}
      </Button>
      <AlertBadge />
      <UserMenu />
    </header>
  );
}

function Saved({
  status,
  message,
  version,
}: Pick<SaveState<unknown>, "status" | "message"> & { version: number | null }) {
  const { t } = useTranslation();
  const Icon = {
    saved: IconCloudCheck,
    failed: IconCloudOff,
    conflict: IconCloudOff,
    saving: IconCloudUp,
    unsaved: IconCloudUp,
  }[status];
  const bad = status === "failed" || status === "conflict";
  return (
    <Tooltip label={message || t(`save.${status}Help`)}>
      <span
        className={styles.pill}
        data-tone={bad ? "bad" : undefined}
        role="status"
        data-testid="save-state"
        data-status={status}
      >
        <Icon size={14} stroke={1.7} aria-hidden />
        {version === null ? t("save.draft") : t("save.draftOf", { version })} ·{" "}
        {t(`save.${status}`)}
      </span>
    </Tooltip>
  );
}
