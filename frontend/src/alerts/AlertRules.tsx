import { Button, Group, Modal, Skeleton } from "@mantine/core";
import { IconPencil, IconPlus, IconSend, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteAlertRule, type MeasureOut, type RuleOut, testAlertRule } from "../api/client";
import cards from "../connections/ConnectionsPage.module.css";
import header from "../pipelines/PipelinesPage.module.css";
import { sayError } from "../shell/say";
import { useMe } from "../shell/useMe";
import { RelativeTime } from "../text/RelativeTime";
import styles from "./Alerts.module.css";
import { EditRule } from "./EditRule";
import { renewAlerts, useAlertRules } from "./useAlerts";
import { useRuleWords } from "./useRuleWords";

const SOON_MS = 2_000;

/** The rules: what each warns of and whom it tells, with a test of that. */
export function AlertRules() {
  const { t } = useTranslation();
  const [adding, setAdding] = useState(false);
  const [tested, setTested] = useState(false);
  // A test is on its way for some seconds, and how it went is told by nothing else.
  const { data, error } = useAlertRules(tested ? SOON_MS : false);
  const me = useMe().data;
  const mayAdd = me?.superuser || me?.may.deployments;
  if (error) return <p role="alert">{error.message}</p>;
  if (!data) return <Skeleton h={160} radius="md" />;
  const { measures, mails } = data;
  return (
    <>
      <div className={header.bar}>
        <p className={header.small} style={{ flex: 1, margin: 0 }}>
          {t("alerts.rulesExplain")}
        </p>
        {mayAdd && (
          <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAdding(true)}>
            {t("alerts.addRule")}
          </Button>
        )}
      </div>
      {data.count === 0 && <p>{t("alerts.noRules")}</p>}
      <div className={cards.list}>
        {data.items.map((rule) => (
          <OneRule
            key={rule.id}
            rule={rule}
            measures={measures}
            mails={mails}
            onTested={() => setTested(true)}
          />
        ))}
      </div>
      {adding && <EditRule measures={measures} mails={mails} onClose={() => setAdding(false)} />}
    </>
  );
}

interface OneProps {
  rule: RuleOut;
  measures: MeasureOut[];
  mails: boolean;
  onTested: () => void;
}

function OneRule({ rule, measures, mails, onTested }: OneProps) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const words = useRuleWords();
  const [open, setOpen] = useState<"change" | "delete" | null>(null);
  const close = () => setOpen(null);
  const test = useMutation({
    mutationFn: () => testAlertRule({ path: { rule_id: rule.id } }),
    onSuccess: () => {
      onTested();
      void queries.invalidateQueries({ queryKey: ["alert-rules"] });
    },
    onError: sayError,
  });
  const { name } = rule;
  const tells = rule.webhook !== "" || rule.emails.length > 0;
  const newest = rule.tests[0];
  return (
    <section className={cards.card} aria-labelledby={`rule-${rule.id}`} data-rule={name}>
      <div className={cards.head}>
        <h2 id={`rule-${rule.id}`} style={{ flex: 1 }}>
          {name}
          {!rule.is_on && <span className={styles.off}> · {t("alerts.off")}</span>}
        </h2>
        {rule.may_change && tells && (
          <Button
            variant="default"
            leftSection={<IconSend size={14} aria-hidden />}
            loading={test.isPending}
            aria-label={t("alerts.testOne", { name })}
            onClick={() => test.mutate()}
          >
            {t("alerts.test")}
          </Button>
        )}
        {rule.may_change && (
          <>
            <Button
              variant="default"
              leftSection={<IconPencil size={14} aria-hidden />}
              aria-label={t("environments.change", { name })}
              onClick={() => setOpen("change")}
            >
              {t("environments.changeShort")}
            </Button>
            <Button
              variant="default"
              leftSection={<IconTrash size={14} aria-hidden />}
              aria-label={t("environments.deleteOne", { name })}
              onClick={() => setOpen("delete")}
            >
              {t("environments.deleteShort")}
            </Button>
          </>
        )}
      </div>
      <p className={styles.says}>{words.says(rule)}</p>
      <p className={styles.facts}>
        <span>{t(`alerts.severity.${rule.severity}`)}</span>
        <span>{words.place(rule)}</span>
        <span>{words.tells(rule)}</span>
      </p>
      {newest && (
        <p className={styles.facts} role="status">
          <span className={newest.state === "failed" ? styles.failed : undefined}>
            {t("alerts.tested", {
              channel: t(`alerts.channel.${newest.channel}`),
              how: newest.message || t("alerts.onItsWay"),
            })}
          </span>
          <RelativeTime at={newest.created_at} />
        </p>
      )}
      {open === "change" && (
        <EditRule rule={rule} measures={measures} mails={mails} onClose={close} />
      )}
      {open === "delete" && <DeleteRule rule={rule} onClose={close} />}
    </section>
  );
}

function DeleteRule({ rule, onClose }: { rule: RuleOut; onClose: () => void }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteAlertRule({ path: { rule_id: rule.id } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["alert-rules"] });
      renewAlerts(queries);
    },
    onError: sayError,
    onSettled: onClose,
  });
  return (
    <Modal opened onClose={onClose} title={t("environments.deleteTitle", { name: rule.name })}>
      <p>{t("alerts.deleteExplain")}</p>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t("action.cancel")}
        </Button>
        <Button color="red.9" loading={remove.isPending} onClick={() => remove.mutate()}>
          {t("environments.deleteNow")}
        </Button>
      </Group>
    </Modal>
  );
}
