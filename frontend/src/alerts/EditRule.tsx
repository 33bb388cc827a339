import {
  Alert,
  Button,
  Checkbox,
  Fieldset,
  Group,
  Modal,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  createAlertRule,
  listDeployments,
  listPipelines,
  type MeasureOut,
  type RuleOut,
  updateAlertRule,
} from "../api/client";
import { faultsOf } from "../environments/environmentForm";
import styles from "./Alerts.module.css";
import {
  bodyOf,
  formOf,
  hasPlace,
  type MeasureName,
  PLACES,
  type Place,
  type RuleForm,
  UNITS,
  type Unit,
} from "./ruleForm";
import { renewAlerts } from "./useAlerts";

interface Props {
  /** Which to change; a new one where there is none. */
  rule?: RuleOut;
  measures: MeasureOut[];
  /** Whether there is a mail server. */
  mails: boolean;
  onClose: () => void;
}

interface PartProps {
  form: RuleForm;
  faults: Record<string, string>;
  change: (part: Partial<RuleForm>) => void;
}

/** The form of one rule; what is refused stands under its field. */
export function EditRule({ rule, measures, mails, onClose }: Props) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [form, setForm] = useState<RuleForm>(() => formOf(rule));
  const measure = measures.find(({ name }) => name === form.measure);
  const save = useMutation({
    mutationFn: () => {
      const body = bodyOf(form, measure);
      return rule
        ? updateAlertRule({ path: { rule_id: rule.id }, body })
        : createAlertRule({ body });
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["alert-rules"] });
      renewAlerts(queries);
      onClose();
    },
  });
  const faults = faultsOf(save.error);
  const change = (part: Partial<RuleForm>) => setForm((now) => ({ ...now, ...part }));
  const parts = { form, faults, change };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={rule ? t("environments.change", { name: rule.name }) : t("alerts.addRule")}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t("environments.name")}
            required
            maxLength={100}
            data-autofocus
            value={form.name}
            error={faults.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <What {...parts} measures={measures} measure={measure} />
          <Where {...parts} />
          <Whom {...parts} mails={mails} signed={rule?.signed ?? false} />
          <Switch
            label={t("alerts.isOn")}
            checked={form.isOn}
            onChange={(event) => change({ isOn: event.currentTarget.checked })}
          />
          {save.error && (
            <Alert color="red" role="alert">
              {save.error.message}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("action.cancel")}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!hasPlace(form)}>
              {t("environments.save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface WhatProps extends PartProps {
  measures: MeasureOut[];
  measure?: MeasureOut;
}

function What({ form, faults, change, measures, measure }: WhatProps) {
  const { t } = useTranslation();
  const looksBack = measure?.seconds === "within" || form.measure === "no_data";
  return (
    <Fieldset legend={t("alerts.what")}>
      <Stack gap="xs">
        <div className={styles.pair}>
          <Select
            label={t("alerts.watches")}
            allowDeselect={false}
            data={measures.map(({ name }) => ({ value: name, label: t(`alerts.measure.${name}`) }))}
            value={form.measure}
            error={faults.measure}
            onChange={(value) => change({ measure: (value ?? "lag") as MeasureName })}
          />
          {measure?.takes_threshold && (
            <NumberInput
              label={measure.below ? t("alerts.fewerThan") : t("alerts.moreThan")}
              required
              suffix={measure.unit && ` ${measure.unit}`}
              min={measure.least ?? undefined}
              allowDecimal={!measure.whole}
              value={form.threshold}
              error={faults.threshold}
              onChange={(value) => change({ threshold: value === "" ? "" : Number(value) })}
            />
          )}
        </div>
        <div className={styles.pair}>
          <NumberInput
            label={looksBack ? t("alerts.within") : t("alerts.forHowLong")}
            description={looksBack ? undefined : t("alerts.atOnce")}
            required
            min={0}
            value={form.amount}
            error={faults.seconds}
            onChange={(value) => change({ amount: value === "" ? "" : Number(value) })}
          />
          <Select
            label={t("alerts.unit")}
            description={looksBack ? undefined : "\u00a0"}
            allowDeselect={false}
            data={Object.keys(UNITS).map((value) => ({
              value,
              label: t(`alerts.units.${value as Unit}`),
            }))}
            value={form.unit}
            onChange={(value) => change({ unit: (value ?? "s") as Unit })}
          />
        </div>
        <Select
          label={t("alerts.howBad")}
          allowDeselect={false}
          data={(["warning", "critical"] as const).map((value) => ({
            value,
            label: t(`alerts.severity.${value}`),
          }))}
          value={form.severity ?? "warning"}
          onChange={(value) => change({ severity: value === "critical" ? value : "warning" })}
        />
      </Stack>
    </Fieldset>
  );
}

function Where({ form, faults, change }: PartProps) {
  const { t } = useTranslation();
  const pipelines = useQuery({
    queryKey: ["alert-places", "pipelines"],
    queryFn: () => listPipelines({ query: { page_size: 200 } }),
    enabled: form.place === "pipeline" || form.place === "folder",
  });
  const deployments = useQuery({
    queryKey: ["alert-places", "deployments"],
    queryFn: () => listDeployments({ query: { page_size: 200 } }),
    enabled: form.place === "deployment",
  });
  const listed = pipelines.data?.items ?? [];
  const named = [form.folder, ...listed.map(({ folder }) => folder ?? "")];
  const folders = [...new Set(named)].filter(Boolean);
  const choices: Record<Exclude<Place, "everything">, { value: string; label: string }[]> = {
    folder: folders.map((folder) => ({ value: folder, label: folder })),
    pipeline: listed.map(({ id, name }) => ({ value: id, label: name })),
    deployment: (deployments.data?.items ?? []).map(({ id, pipeline, environment }) => ({
      value: id,
      label: t("alerts.deploymentIn", { name: pipeline.name, environment }),
    })),
  };
  const { place } = form;
  return (
    <div className={styles.pair}>
      <Select
        label={t("alerts.where")}
        allowDeselect={false}
        data={PLACES.map((value) => ({ value, label: t(`alerts.place.${value}`) }))}
        value={place}
        onChange={(value) => change({ place: (value ?? "everything") as Place })}
      />
      {place !== "everything" && (
        <Select
          label={t("alerts.which")}
          required
          searchable
          nothingFoundMessage={t("alerts.nothingThere")}
          data={choices[place]}
          value={form[place] || null}
          error={faults[place]}
          onChange={(value) => change({ [place]: value ?? "" })}
        />
      )}
    </div>
  );
}

interface WhomProps extends PartProps {
  mails: boolean;
  signed: boolean;
}

function Whom({ form, faults, change, mails, signed }: WhomProps) {
  const { t } = useTranslation();
  return (
    <Fieldset legend={t("alerts.whom")}>
      <Stack gap="xs">
        <TextInput
          label={t("alerts.webhook")}
          description={t("alerts.webhookHelp")}
          placeholder="https://"
          maxLength={1000}
          value={form.webhook}
          error={faults.webhook}
          onChange={(event) => change({ webhook: event.currentTarget.value })}
        />
        {form.webhook.trim() !== "" && (
          <PasswordInput
            size="xs"
            label={t("alerts.secret")}
            description={signed ? t("connections.isSet") : t("alerts.secretHelp")}
            autoComplete="new-password"
            maxLength={500}
            value={form.secret}
            error={faults.webhook_secret}
            visibilityToggleButtonProps={{ "aria-label": t("alerts.showSecret") }}
            onChange={(event) => change({ secret: event.currentTarget.value })}
          />
        )}
        {form.webhook.trim() !== "" && signed && (
          <Checkbox
            label={t("alerts.unsign")}
            checked={form.unsign}
            onChange={(event) => change({ unsign: event.currentTarget.checked })}
          />
        )}
        <TagsInput
          label={t("alerts.emails")}
          description={mails ? t("alerts.emailsHelp") : t("alerts.noMails")}
          disabled={!mails && form.emails.length === 0}
          splitChars={[",", ";", " "]}
          acceptValueOnBlur
          value={form.emails}
          error={faults.emails}
          onChange={(emails) => change({ emails })}
        />
      </Stack>
    </Fieldset>
  );
}
