import {
  ActionIcon,
  Alert,
  Button,
  Fieldset,
  Group,
  Modal,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  createEnvironment,
  type EnvironmentOut,
  type Setting,
  updateEnvironment,
} from "../api/client";
import { useConnections } from "../connections/useConnections";
import styles from "./EnvironmentsPage.module.css";
import {
  bodyOf,
  type EnvironmentForm,
  faultsOf,
  formOf,
  newPair,
  type Pair,
} from "./environmentForm";

interface Props {
  /** Which to change; a new one where there is none. */
  environment?: EnvironmentOut;
  /** The settings of Spark that it may name. */
  settings: Setting[];
  onClose: () => void;
}

/** The form of one environment; what is refused stands under its field. */
export function EditEnvironment({ environment, settings, onClose }: Props) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const { data: connections } = useConnections();
  const [form, setForm] = useState<EnvironmentForm>(() => formOf(environment));
  const save = useMutation({
    mutationFn: () => {
      const body = bodyOf(form);
      return environment
        ? updateEnvironment({ path: { name: environment.name }, body })
        : createEnvironment({ body });
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["environments"] });
      onClose();
    },
  });
  const faults = faultsOf(save.error);
  const change = (part: Partial<EnvironmentForm>) => setForm((now) => ({ ...now, ...part }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };

  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={
        environment ? t("environments.change", { name: environment.name }) : t("environments.add")
      }
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t("environments.name")}
            description={t("environments.nameHelp")}
            required
            pattern="[a-z][a-z0-9\-]{0,29}"
            disabled={environment !== undefined}
            data-autofocus={environment === undefined || undefined}
            value={form.name}
            error={faults.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <Fieldset legend={t("environments.connections")}>
            <Text size="xs" c="dimmed" mb={6}>
              {t("environments.connectionsHelp")}
            </Text>
            <Pairs
              pairs={form.connections}
              faults={faults}
              field="connections"
              onChange={(connections) => change({ connections })}
              words={{
                add: t("environments.addConnection"),
                name: t("environments.nameInGraphs"),
                value: t("environments.means"),
              }}
              values={(connections?.items ?? []).map(({ name }) => name)}
            />
          </Fieldset>
          <Fieldset legend={t("environments.spark")}>
            <Stack gap="xs">
              <TextInput
                label={t("environments.master")}
                description={t("environments.masterHelp")}
                placeholder="local[*]"
                value={form.master}
                error={faults.master}
                onChange={(event) => change({ master: event.currentTarget.value })}
              />
              <Group grow align="start">
                <NumberInput
                  label={t("environments.cores")}
                  placeholder={t("environments.asNeeded")}
                  min={1}
                  max={9999}
                  allowDecimal={false}
                  value={form.cores}
                  error={faults.cores}
                  onChange={(value) => change({ cores: value === "" ? "" : Number(value) })}
                />
                <TextInput
                  label={t("environments.driverMemory")}
                  placeholder="1g"
                  value={form.driverMemory}
                  error={faults.driver_memory}
                  onChange={(event) => change({ driverMemory: event.currentTarget.value })}
                />
                <TextInput
                  label={t("environments.executorMemory")}
                  placeholder="1g"
                  value={form.executorMemory}
                  error={faults.executor_memory}
                  onChange={(event) => change({ executorMemory: event.currentTarget.value })}
                />
              </Group>
              <Text size="xs" c="dimmed">
                {t("environments.coresHelp")}
              </Text>
              <Pairs
                pairs={form.conf}
                faults={faults}
                field="conf"
                onChange={(conf) => change({ conf })}
                words={{
                  add: t("environments.addSetting"),
                  name: t("environments.setting"),
                  value: t("environments.value"),
                }}
                names={settings.map(({ name }) => name)}
                describe={(name) => settings.find((s) => s.name === name)?.takes}
              />
            </Stack>
          </Fieldset>
          <TagsInput
            label={t("environments.masks")}
            description={t("environments.masksHelp")}
            placeholder={form.masks.length === 0 ? "email" : undefined}
            value={form.masks}
            error={faults.masks}
            onChange={(masks) => change({ masks })}
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
            <Button type="submit" loading={save.isPending}>
              {t("environments.save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface PairsProps {
  pairs: Pair[];
  faults: Record<string, string>;
  /** What the API calls the list. */
  field: string;
  onChange: (pairs: Pair[]) => void;
  words: { add: string; name: string; value: string };
  /** What may be named on the left; anything where left out. */
  names?: string[];
  /** What may be chosen on the right; anything where left out. */
  values?: string[];
  /** What a name takes on its right. */
  describe?: (name: string) => string | undefined;
}

function Pairs({ pairs, faults, field, onChange, words, names, values, describe }: PairsProps) {
  const { t } = useTranslation();
  const put = (id: number, part: Partial<Pair>) =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...part } : pair)));
  return (
    <Stack gap={6}>
      {pairs.map(({ id, name, value }) => (
        <div key={id} className={styles.pair}>
          <Choice
            label={words.name}
            value={name}
            choices={names}
            error={faults[`${field}.${name}`]}
            onChange={(chosen) => put(id, { name: chosen })}
          />
          <Choice
            label={words.value}
            value={value}
            choices={values}
            placeholder={describe?.(name)}
            onChange={(chosen) => put(id, { value: chosen })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("environments.remove", { name })}
            onClick={() => onChange(pairs.filter((pair) => pair.id !== id))}
          >
            <IconTrash size={15} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      <div>
        <Button
          variant="default"
          size="compact-xs"
          leftSection={<IconPlus size={12} aria-hidden />}
          onClick={() => onChange([...pairs, newPair()])}
        >
          {words.add}
        </Button>
      </div>
    </Stack>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  choices?: string[];
  placeholder?: string;
  error?: string;
  onChange: (value: string) => void;
}

/** One of what there is to choose, or any text where nothing says what there is. */
function Choice({ label, value, choices, placeholder, error, onChange }: ChoiceProps) {
  if (!choices)
    return (
      <TextInput
        aria-label={label}
        placeholder={placeholder ?? label}
        value={value}
        error={error}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return (
    <Select
      aria-label={label}
      placeholder={placeholder ?? label}
      searchable
      data={choices.includes(value) || value === "" ? choices : [...choices, value]}
      value={value || null}
      error={error}
      onChange={(chosen) => onChange(chosen ?? "")}
    />
  );
}
