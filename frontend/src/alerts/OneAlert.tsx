import { Button } from "@mantine/core";
import { IconAlertOctagonFilled, IconAlertTriangle } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { type AlertOut, acknowledgeAlert } from "../api/client";
import { useMayOperate } from "../deploy/useMayOperate";
import { sayError } from "../shell/say";
import { RelativeTime } from "../text/RelativeTime";
import { span } from "../text/span";
import styles from "./Alerts.module.css";
import { moment } from "./moment";
import { SilenceDialog } from "./SilenceDialog";
import { renewAlerts } from "./useAlerts";

interface Props {
  alert: AlertOut;
  /** Whether the page is about its deployment, so that no link need lead there. */
  here?: boolean;
}

/** One alert: what is wrong, since when, who looks after it, and what can be done. */
export function OneAlert({ alert, here = false }: Props) {
  const { t } = useTranslation();
  const may = useMayOperate(alert.pipeline);
  const queries = useQueryClient();
  const [silencing, setSilencing] = useState(false);
  const acknowledge = useMutation({
    mutationFn: () => acknowledgeAlert({ path: { alert_id: alert.id } }),
    onSuccess: () => renewAlerts(queries),
    onError: sayError,
  });
  const { message, severity, ended_at, acknowledged_at } = alert;
  const Icon = severity === "critical" ? IconAlertOctagonFilled : IconAlertTriangle;
  const over = ended_at !== null;
  return (
    <li
      className={styles.alert}
      data-severity={severity}
      data-over={over || undefined}
      data-testid="alert"
    >
      <Icon size={16} aria-hidden />
      <div>
        <p className={styles.message}>
          {here ? message : <Link to={`/deployments/${alert.deployment.id}`}>{message}</Link>}
        </p>
        <Facts alert={alert} />
      </div>
      {may && !over && (
        <div className={styles.actions}>
          {acknowledged_at === null && (
            <Button
              size="compact-xs"
              variant="default"
              loading={acknowledge.isPending}
              aria-label={t("alerts.acknowledgeOne", { message })}
              onClick={() => acknowledge.mutate()}
            >
              {t("alerts.acknowledge")}
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            aria-label={t("alerts.silenceOne", { message })}
            onClick={() => setSilencing(true)}
          >
            {t("alerts.silence")}
          </Button>
        </div>
      )}
      {silencing && <SilenceDialog alert={alert} onClose={() => setSilencing(false)} />}
    </li>
  );
}

function Facts({ alert }: { alert: AlertOut }) {
  const { t } = useTranslation();
  const { ended_at, began_at, acknowledged_at, acknowledged_by, silenced_until } = alert;
  const lasted = ended_at && span(Date.parse(ended_at) - Date.parse(began_at));
  const untold = alert.notifications.filter(({ state, attempts }) => state !== "sent" && attempts);
  return (
    <p className={styles.facts}>
      <span className={styles.severity}>{t(`alerts.severity.${alert.severity}`)}</span>
      <span>{alert.name}</span>
      <span>
        {lasted ? t("alerts.lasted", { time: lasted }) : t("alerts.since")}{" "}
        <RelativeTime at={ended_at ?? began_at} />
      </span>
      {acknowledged_at && (
        <span>
          {t("alerts.acknowledgedBy", { name: acknowledged_by ?? t("alerts.somebody") })}{" "}
          <RelativeTime at={acknowledged_at} />
        </span>
      )}
      {silenced_until && <span>{t("alerts.silencedUntil", { time: moment(silenced_until) })}</span>}
      {untold.map(({ id, channel, message }) => (
        <span key={id} className={styles.failed}>
          {t(`alerts.channel.${channel}`)}: {message}
        </span>
      ))}
    </p>
  );
}
