import {
  Alert,
  Button,
  Checkbox,
  Group,
  Modal,
  Select,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { writeRecord } from "../api/client";
import { ApiError } from "../api/session";
import { say } from "../shell/say";
import { readHeaders } from "./readHeaders";
import type { Place } from "./useTopic";

interface Props {
  place: Place;
  partitions: number[];
  onClose: () => void;
}

/** Writes one record to a topic, to try something. */
export function WriteRecord({ place, partitions, onClose }: Props) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const [isJson, setIsJson] = useState(true);
  const [deletes, setDeletes] = useState(false);
  const [headers, setHeaders] = useState("");
  const [partition, setPartition] = useState<string | null>(null);
  const named = readHeaders(headers);
  const write = useMutation({
    mutationFn: () =>
      writeRecord({
        path: { connection_id: place.connection, topic: place.topic },
        body: {
          key: key || null,
          value: deletes ? null : value,
          headers: named ?? {},
          partition: partition === null ? null : Number(partition),
          json: isJson && !deletes,
        },
      }),
    onSuccess: (written) => {
      say(t("topics.written", { partition: written.partition, offset: written.offset }));
      void queries.invalidateQueries({ queryKey: ["topic", place.connection, place.topic] });
      void queries.invalidateQueries({ queryKey: ["records", place.connection, place.topic] });
      onClose();
    },
  });
  const problem = write.error instanceof ApiError ? write.error.answer.problems?.[0] : undefined;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (named !== null) write.mutate();
  }
  return (
    <Modal opened onClose={onClose} size="lg" title={t("topics.writeTo", { topic: place.topic })}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t("record.key")}
            description={t("topics.keyHelp")}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            data-autofocus
          />
          <Textarea
            label={t("record.value")}
            autosize
            minRows={4}
            maxRows={14}
            spellCheck={false}
            classNames={{ input: "mono" }}
            disabled={deletes}
            value={value}
            error={problem?.field === "value" ? problem.message : undefined}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
          <Group>
            <Checkbox
              label={t("topics.isJson")}
              checked={isJson}
              disabled={deletes}
              onChange={(event) => setIsJson(event.currentTarget.checked)}
            />
            <Checkbox
              label={t("topics.deletes")}
              checked={deletes}
              onChange={(event) => setDeletes(event.currentTarget.checked)}
            />
          </Group>
          <Textarea
            label={t("record.headers")}
            description={t("topics.headersHelp")}
            autosize
            minRows={1}
            maxRows={6}
            classNames={{ input: "mono" }}
            value={headers}
            error={named === null ? t("topics.noHeader") : undefined}
            onChange={(event) => setHeaders(event.currentTarget.value)}
          />
          <Select
            label={t("topics.column.partition")}
            clearable
            placeholder={t("topics.byItsKey")}
            data={partitions.map(String)}
            value={partition}
            onChange={setPartition}
          />
          {write.error && problem?.field !== "value" && (
            <Alert color="red" role="alert">
              {problem?.message ?? write.error.message}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("action.cancel")}
            </Button>
            <Button type="submit" loading={write.isPending}>
              {t("topics.writeNow")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
