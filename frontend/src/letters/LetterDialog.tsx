import { Alert, Button, Group, Modal, Skeleton, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { type LetterOut, replayDeadLetters } from "../api/client";
import { ApiError } from "../api/session";
import type { Deployment } from "../api/types";
import { pretty } from "../records/pretty";
import { RecordHeaders } from "../records/RecordHeaders";
import { RecordText } from "../records/RecordText";
import styles from "../records/records.module.css";
import { RelativeTime } from "../text/RelativeTime";
import { useLetter } from "./useLetters";
import { ValueFaults } from "./ValueFaults";

interface Props {
  deployment: Deployment;
  letter: string;
  titles: ReadonlyMap<string, string>;
  may: boolean;
  onReplayed: () => void;
  onClose: () => void;
}

/** One dead letter as it came, and a way to mend and replay it. */
export function LetterDialog(props: Props) {
  const { t } = useTranslation();
  const found = useLetter(props.deployment.id, props.letter);
  return (
    <Modal opened onClose={props.onClose} size="xl" title={t("letters.one")}>
      {found.isPending && <Skeleton h={200} />}
      {found.error && (
        <Alert color="red" role="alert">
          {found.error.message}
        </Alert>
      )}
      {found.data === null && <p className={styles.said}>{t("letters.gone")}</p>}
      {found.data && <OneLetter {...props} found={found.data} />}
    </Modal>
  );
}

function OneLetter({
  deployment,
  titles,
  may,
  found,
  onReplayed,
  onClose,
}: Props & { found: LetterOut }) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      <dl className={styles.about}>
        <dt>{t("letters.column.step")}</dt>
        <dd>{titles.get(found.step) ?? found.step}</dd>
        <dt>{t("letters.column.error")}</dt>
        <dd>{found.error}</dd>
        <dt>{t("letters.column.origin")}</dt>
        <dd>{found.origin ? t("letters.stood", found.origin) : t("letters.noOrigin")}</dd>
        <dt>{t("letters.column.at")}</dt>
        <dd>{found.at && <RelativeTime at={found.at} />}</dd>
        {found.replays.map((replay) => (
          <Replay key={replay.at} {...replay} />
        ))}
      </dl>
      {found.masked && <p className={styles.said}>{t("letters.masked")}</p>}
      <RecordText label={t("record.value")} text={found.value} encoding={found.value_encoding} />
      <RecordHeaders headers={found.headers} />
      {may && found.origin && (
        <Mend deployment={deployment} found={found} onReplayed={onReplayed} onClose={onClose} />
      )}
    </Stack>
  );
}

function Replay({ at, user, edited, offset, topic, partition }: LetterOut["replays"][number]) {
  const { t } = useTranslation();
  return (
    <>
      <dt>{t("letters.column.replayed")}</dt>
      <dd>
        <RelativeTime at={at} /> {t(edited ? "letters.byEdited" : "letters.by", { user })}
        {offset === null
          ? ` ${t("letters.unsure")}`
          : ` ${t("letters.standsAt", { topic, partition, offset })}`}
      </dd>
    </>
  );
}

interface MendProps {
  deployment: Deployment;
  found: LetterOut;
  onReplayed: () => void;
  onClose: () => void;
}

function Mend({ deployment, found, onReplayed, onClose }: MendProps) {
  const { t } = useTranslation();
  const step = deployment.graph.steps.find(({ id }) => id === found.step);
  // Bytes are no text to edit; who mends such a value writes it anew.
  const text = found.value_encoding === "text" ? (found.value ?? "") : "";
  const key = found.key_encoding === "text" ? (found.key ?? "") : "";
  const [value, setValue] = useState(text);
  const [named, setNamed] = useState(key);
  const changes = {
    ...(value === text ? {} : { value }),
    ...(named === key ? {} : { key: named }),
  };
  const edited = Object.keys(changes).length > 0;
  const inBytes = found.value_encoding === "base64" && value === text;
  const replay = useMutation({
    mutationFn: (again: boolean) =>
      replayDeadLetters({
        path: { deployment_id: deployment.id },
        body: { letters: [{ id: found.id, ...changes }], again },
      }),
    onSuccess: (answer) => {
      if (answer.replayed === 0) return;
      onReplayed();
      onClose();
    },
  });
  const trouble = replay.error ? wordsOf(replay.error) : replay.data?.items[0]?.message;
  const before = found.replays.length > 0;
  const setOut = pretty(value);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        replay.mutate(before);
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={t("letters.keyToSend")}
          description={
            found.key === null
              ? t("letters.noKey")
              : found.key_encoding === "base64"
                ? t("letters.keyInBytes")
                : undefined
          }
          value={named}
          onChange={(event) => setNamed(event.currentTarget.value)}
          classNames={{ input: "mono" }}
        />
        <div>
          <Textarea
            label={t("letters.valueToSend")}
            description={inBytes ? t("letters.inBytes") : undefined}
            autosize
            minRows={3}
            maxRows={14}
            spellCheck={false}
            classNames={{ input: "mono" }}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            data-autofocus
          />
          {step && !inBytes && <ValueFaults text={value} step={step} />}
        </div>
        {trouble && (
          <Alert color="red" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          {setOut !== null && setOut !== value && (
            <Button variant="subtle" onClick={() => setValue(setOut)}>
              {t("letters.setOut")}
            </Button>
          )}
          {edited && (
            <Button
              variant="subtle"
              onClick={() => {
                setValue(text);
                setNamed(key);
              }}
            >
              {t("letters.asItCame")}
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button type="submit" loading={replay.isPending}>
            {t(
              before
                ? "letters.replayOnceMore"
                : edited
                  ? "letters.replayEdited"
                  : "letters.replayAsIs",
            )}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Why it was refused: what is wrong with the letter, where the answer says so. */
function wordsOf(error: Error): string {
  const problem = error instanceof ApiError ? error.answer.problems?.[0] : undefined;
  return problem?.message ?? error.message;
}
