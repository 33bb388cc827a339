import { Button, Skeleton } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { endSilence, type SilenceOut } from "../api/client";
import table from "../pipelines/PipelinesPage.module.css";
import { sayError } from "../shell/say";
import styles from "./Alerts.module.css";
import { moment } from "./moment";
import { renewAlerts, useSilences } from "./useAlerts";

/** What nobody is told of for now, and what was so before. */
export function Silences() {
  const { t } = useTranslation();
  const { data, error } = useSilences();
  if (error) return <p role="alert">{error.message}</p>;
  if (!data) return <Skeleton h={120} radius="md" />;
  if (data.count === 0) return <p className={styles.quiet}>{t("alerts.noSilences")}</p>;
  return (
    <table className={table.table} aria-label={t("alerts.tab.silences")}>
      <thead>
        <tr>
          <th scope="col">{t("alerts.silenced")}</th>
          <th scope="col">{t("alerts.until")}</th>
          <th scope="col">{t("alerts.by")}</th>
          <th scope="col">{t("alerts.why")}</th>
          <th scope="col">
            <span className="visually-hidden">{t("pipelines.actions")}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {data.items.map((silence) => (
          <OneSilence key={silence.id} silence={silence} />
        ))}
      </tbody>
    </table>
  );
}

function OneSilence({ silence }: { silence: SilenceOut }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: () => endSilence({ path: { silence_id: silence.id } }),
    onSuccess: () => renewAlerts(queries),
    onError: sayError,
  });
  const { rule, deployment, until, by, comment } = silence;
  const holds = Date.parse(until) > Date.now();
  const what =
    rule && deployment
      ? t("alerts.ruleOn", { rule: rule.name, place: deployment.name })
      : (rule?.name ?? deployment?.name ?? "");
  return (
    <tr>
      <td>{what}</td>
      <td>
        <time dateTime={until}>{moment(until)}</time>
        {!holds && ` (${t("alerts.over")})`}
      </td>
      <td>{by ?? t("alerts.somebody")}</td>
      <td>{comment}</td>
      <td className={table.number}>
        {holds && (
          <Button
            size="compact-xs"
            variant="default"
            loading={end.isPending}
            aria-label={t("alerts.endSilenceOf", { what })}
            onClick={() => end.mutate()}
          >
            {t("alerts.endSilence")}
          </Button>
        )}
      </td>
    </tr>
  );
}
