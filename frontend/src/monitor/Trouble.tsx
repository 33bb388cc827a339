import { Button } from "@mantine/core";
import { IconFileText, IconRefresh } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { restartDeployment } from "../api/client";
import type { Deployment } from "../api/types";
import { useMayOperate } from "../deploy/useMayOperate";
import { sayError } from "../shell/say";
import { RelativeTime } from "../text/RelativeTime";
import { span } from "../text/span";
import styles from "./DeploymentPage.module.css";
import { MissingTopics } from "./MissingTopics";
import { Exit } from "./RunsTab";
import { secondsUntil, standingOf } from "./standing";

interface Props {
  deployment: Deployment;
  onLog: (epoch: number) => void;
}

/** What is wrong with a deployment: how the last run ended, when the next try is, what to do. */
export function Trouble({ deployment, onLog }: Props) {
  const { t } = useTranslation();
  const may = useMayOperate(deployment.pipeline);
  const standing = standingOf(deployment);
  if (!standing) return null;
  const { advice, last, retryAt, failures } = standing;
  const failed = deployment.state === "failed";
  return (
    <div className={styles.trouble} data-testid="trouble" data-advice={advice}>
      <p className={styles.advice}>{t(`trouble.${advice}`)}</p>
      {advice === "make_topics" && may && <MissingTopics topics={deployment.missing_topics} />}
      {failures > 1 && <span>{t("trouble.failures", { count: failures })}</span>}
      {last?.ended_at && (
        <span>
          {t("trouble.last", { epoch: last.epoch })} <RelativeTime at={last.ended_at} /> ·{" "}
          <Exit code={last.exit_code} />
        </span>
      )}
      {deployment.state === "backing_off" &&
        (retryAt ? <NextTry at={retryAt} /> : <span>{t("trouble.often")}</span>)}
      {last && (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconFileText size={13} aria-hidden />}
          onClick={() => onLog(last.epoch)}
        >
          {t("trouble.log", { epoch: last.epoch })}
        </Button>
      )}
      {failed && (
        <Button size="compact-xs" variant="default" component={Link} to={editorOf(deployment)}>
          {t("trouble.edit")}
        </Button>
      )}
      {deployment.state === "backing_off" && retryAt && may && <TryNow id={deployment.id} />}
    </div>
  );
}

/** The drawing, with the step at fault open where that is known. */
function editorOf({ pipeline, step, graph }: Deployment): string {
  const known = step && graph.steps.some(({ id }) => id === step);
  return `/pipelines/${pipeline.id}${known ? `?step=${step}` : ""}`;
}

function TryNow({ id }: { id: string }) {
  const { t } = useTranslation();
  const restart = useMutation({
    mutationFn: () => restartDeployment({ path: { deployment_id: id } }),
    onError: sayError,
  });
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<IconRefresh size={13} aria-hidden />}
      loading={restart.isPending}
      onClick={() => restart.mutate()}
    >
      {t("trouble.now")}
    </Button>
  );
}

/** The time until the next try, counted down; readers of screens are not told each second. */
function NextTry({ at }: { at: string }) {
  const { t } = useTranslation();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = secondsUntil(at, now);
  return (
    <span role="timer" aria-live="off" data-testid="next-try">
      {seconds === null ? t("trouble.trying") : t("trouble.next", { time: span(seconds * 1_000) })}
    </span>
  );
}
