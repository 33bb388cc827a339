import {
  Alert,
  Button,
  Group,
  Modal,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { type ConnectionOut, createConnection, updateConnection } from "../api/client";
import { ApiError } from "../api/session";
import { say } from "../shell/say";
import {
  bodyOf,
  type ConnectionType,
  type Field,
  fieldsOf,
  firstOf,
  TYPES,
  type Written,
  writtenOf,
} from "./connectionFields";

interface Props {
  /** The one to change; a new one is made without. */
  connection?: ConnectionOut;
  onClose: () => void;
}

/** Make a connection, or change one. */
export function ConnectionForm({ connection, onClose }: Props) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [written, setWritten] = useState<Written>(() => writtenOf(connection));
  const save = useMutation({
    mutationFn: () => {
      const body = bodyOf(written);
      return connection
        ? updateConnection({ path: { connection_id: connection.id }, body })
        : createConnection({ body });
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["connections"] });
      say(t("connections.saved", { name: written.name }));
      onClose();
    },
  });
  const faults = faultsOf(save.error);
  const fields = fieldsOf(written);
  const shown = new Set([...fields.map(({ name }) => name), "name", "type"]);
  const others = Object.entries(faults).filter(([name]) => !shown.has(name));
  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate();
  }
  function write(name: string, value: string) {
    // What the server said was of what stood there before.
    save.reset();
    setWritten((before) => ({ ...before, fields: { ...before.fields, [name]: value } }));
  }
  const title = connection
    ? t("connections.changeOne", { name: connection.name })
    : t("connections.add");
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t("connections.name")}
            description={t("connections.nameHelp")}
            required
            pattern="[a-z][a-z0-9_\-]{0,62}"
            data-autofocus
            value={written.name}
            error={faults.name}
            onChange={(event) => setWritten({ ...written, name: event.currentTarget.value })}
          />
          <Select
            label={t("connections.type")}
            data={TYPES.map((value) => ({ value, label: t(`connections.types.${value}`) }))}
            value={written.type}
            error={faults.type}
            disabled={connection !== undefined}
            allowDeselect={false}
            onChange={(type) =>
              setWritten({ ...written, type: type as ConnectionType, fields: {} })
            }
          />
          {fields.map((field) => (
            <OneField
              key={field.name}
              field={field}
              value={written.fields[field.name] ?? firstOf(field.kind)}
              isSet={connection?.secrets.includes(field.name) ?? false}
              error={faults[field.name]}
              onChange={(value) => write(field.name, value)}
            />
          ))}
          {save.error && (others.length > 0 || Object.keys(faults).length === 0) && (
            <Alert color="red" role="alert">
              {others.map(([, message]) => message).join(" ") || save.error.message}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("action.cancel")}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {connection ? t("connections.saveNow") : t("connections.addNow")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface OneFieldProps {
  field: Field;
  value: string;
  /** There is a secret, which the server does not tell. */
  isSet: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
}

function OneField({ field, value, isSet, error, onChange }: OneFieldProps) {
  const { t } = useTranslation();
  const { name, kind, required, secret, help } = field;
  const about = help && t(`connections.help.${help}`);
  const common = {
    label: t(`connections.fields.${name}`),
    description: secret && isSet ? t("connections.isSet") : about,
    required,
    error,
    value,
  };
  if (kind === "number") {
    return (
      <NumberInput
        {...common}
        min={1}
        max={65535}
        allowDecimal={false}
        onChange={(next) => onChange(String(next))}
      />
    );
  }
  if (kind === "password") {
    return (
      <PasswordInput
        {...common}
        autoComplete="new-password"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  if (kind === "pem") {
    return (
      <Textarea
        {...common}
        rows={3}
        spellCheck={false}
        placeholder={isSet ? undefined : "-----BEGIN …-----"}
        styles={{ input: { fontFamily: "var(--hr-mono)", fontSize: 11.5 } }}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  if (kind === "text") {
    return (
      <TextInput
        {...common}
        autoComplete="off"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <Select
      {...common}
      data={[...kind]}
      allowDeselect={false}
      onChange={(next) => onChange(next ?? firstOf(kind))}
    />
  );
}

/** What the server found wrong, by the field as the form names it. */
function faultsOf(error: Error | null): Record<string, string> {
  const problems = error instanceof ApiError ? (error.answer.problems ?? []) : [];
  return Object.fromEntries(
    problems.flatMap(({ field, message }) =>
      field ? [[field.replace(/^(settings|secrets)\./, ""), message]] : [],
    ),
  );
}
