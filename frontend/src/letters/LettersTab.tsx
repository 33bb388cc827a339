import { Alert, Button, Select, Skeleton, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router";
import { replayDeadLetters } from "../api/client";
import { ApiError } from "../api/session";
import type { Deployment } from "../api/types";
import type { Catalogue } from "../canvas/ports";
import { useMayOperate } from "../deploy/useMayOperate";
import styles from "../records/records.module.css";
import { count as inWords } from "../text/count";
import { LetterDialog } from "./LetterDialog";
import { LetterList } from "./LetterList";
import { ReplayAll } from "./ReplayAll";
import { Replayed } from "./Replayed";
import { stepsWithLetters } from "./stepsWithLetters";
import { type Outcome, useLetters } from "./useLetters";

interface Props {
  deployment: Deployment;
  catalogue: Catalogue;
}

/** The records that sources could not read: why, where they stood, and a way to replay them. */
export function LettersTab({ deployment, catalogue }: Props) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const may = useMayOperate(deployment.pipeline);
  const steps = stepsWithLetters(deployment.graph.steps);
  const titles = useMemo(
    () =>
      new Map(
        deployment.graph.steps.map((step) => [
          step.id,
          step.label || `${catalogue.get(step.type)?.title ?? step.type} (${step.id})`,
        ]),
      ),
    [deployment.graph, catalogue],
  );
  const [params, setParams] = useSearchParams();
  const asked = params.get("step");
  const step = steps.some(({ id }) => id === asked) ? asked : null;
  const [error, setError] = useState<string | null>(null);
  const [search, setSearch] = useState("");
  const [words] = useDebouncedValue(search.trim(), 250);
  const letters = useLetters(deployment.id, { step, error, search: words });
  const items = letters.data?.pages.flatMap((page) => page.items) ?? [];
  const last = letters.data?.pages.at(-1);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<string | null>(null);
  const [asksAll, setAsksAll] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const shown = items.filter(({ id }) => chosen.has(id));
  const replay = useMutation({
    mutationFn: (again: boolean) =>
      replayDeadLetters({
        path: { deployment_id: deployment.id },
        body: { letters: shown.map(({ id }) => ({ id })), again },
      }),
    onMutate: () => setOutcome(null),
    onSuccess: (answer) => {
      finished({
        replayed: answer.replayed,
        kept: answer.items.flatMap(({ message }) => message || []),
      });
      setChosen(new Set());
    },
  });
  function finished(next: Outcome) {
    setOutcome(next);
    void queries.invalidateQueries({ queryKey: ["dead-letters", deployment.id] });
  }
  function showStep(id: string | null) {
    setParams(
      (now) => {
        if (id) now.set("step", id);
        else now.delete("step");
        return now;
      },
      { replace: true },
    );
  }
  const reasons = [...new Set([...items.map((letter) => letter.error), ...(error ? [error] : [])])];
  const replayable = step ?? (steps.length === 1 ? (steps[0]?.id ?? null) : null);
  const wasReplayed = replay.error instanceof ApiError && replay.error.status === 409;

  if (steps.length === 0) return <p className={styles.said}>{t("letters.noSteps")}</p>;
  return (
    <section aria-label={t("letters.name")}>
      <div className={styles.tools} data-line>
        <Select
          aria-label={t("letters.ofStep")}
          w={210}
          clearable
          placeholder={t("letters.allSteps")}
          data={steps.map(({ id }) => ({ value: id, label: titles.get(id) ?? id }))}
          value={step}
          onChange={showStep}
        />
        <Select
          aria-label={t("letters.reason")}
          w={250}
          clearable
          placeholder={t("letters.allReasons")}
          data={reasons.filter(Boolean)}
          value={error}
          onChange={setError}
        />
        <TextInput
          type="search"
          w={180}
          aria-label={t("letters.search")}
          placeholder={t("letters.search")}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <p className={styles.said} role="status" data-testid="letters-count">
          {letters.data &&
            t("letters.count", {
              count: letters.data.pages[0]?.count ?? 0,
              n: inWords(letters.data.pages[0]?.count ?? 0),
            })}
        </p>
        <span className={styles.grow} />
        {may && (
          <>
            <Button
              disabled={shown.length === 0}
              loading={replay.isPending}
              onClick={() => replay.mutate(false)}
            >
              {t("letters.replaySelected", { count: shown.length })}
            </Button>
            <Button
              variant="default"
              disabled={replayable === null || items.length === 0}
              title={replayable === null ? t("letters.chooseStep") : undefined}
              onClick={() => setAsksAll(replayable)}
            >
              {t("letters.replayAll")}
            </Button>
          </>
        )}
      </div>
      {replay.error && (
        <Alert color={wasReplayed ? "yellow" : "red"} role="alert" mb="sm">
          {replay.error.message}{" "}
          {wasReplayed && (
            <Button size="compact-xs" variant="default" onClick={() => replay.mutate(true)}>
              {t("letters.again")}
            </Button>
          )}
        </Alert>
      )}
      <Replayed outcome={outcome} onClose={() => setOutcome(null)} />
      {letters.error && (
        <Alert color="red" role="alert" mb="sm">
          {letters.error.message}
        </Alert>
      )}
      {letters.isPending && <Skeleton h={80} />}
      {items.length > 0 && (
        <LetterList
          letters={items}
          titles={titles}
          chosen={may ? chosen : null}
          onChoose={setChosen}
          onOpen={setOpened}
        />
      )}
      {letters.data && items.length === 0 && !letters.error && (
        <p className={styles.said}>
          {t(words || error || last?.more ? "letters.noMatch" : "letters.none")}
        </p>
      )}
      {letters.hasNextPage && (
        <Button
          mt="xs"
          size="compact-xs"
          variant="default"
          loading={letters.isFetchingNextPage}
          onClick={() => void letters.fetchNextPage()}
        >
          {t("letters.older")}
        </Button>
      )}
      {opened !== null && (
        <LetterDialog
          deployment={deployment}
          letter={opened}
          titles={titles}
          may={may}
          onReplayed={() => finished({ replayed: 1, kept: [] })}
          onClose={() => setOpened(null)}
        />
      )}
      {asksAll !== null && (
        <ReplayAll
          deployment={deployment.id}
          step={asksAll}
          title={titles.get(asksAll) ?? asksAll}
          error={error}
          onDone={finished}
          onClose={() => setAsksAll(null)}
        />
      )}
    </section>
  );
}
