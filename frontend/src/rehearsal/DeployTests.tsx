import { Alert, Group, List, Loader, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import styles from "./Rehearsal.module.css";
import { type CaseRuns, useCases } from "./useCases";

/** What the test cases said before a deployment. */
export interface BeforeDeploy {
  /** True as long as an answer is on its way. */
  waiting: boolean;
  /** How many cases there are. */
  count: number;
  /** The names of the cases that failed. */
  failed: string[];
  /** Why they could not be run, as a sentence. */
  notRun: string | null;
}

/** Run all test cases once, when a deployment is about to be asked for. */
export function useBeforeDeploy(pipeline: string, runs: CaseRuns): BeforeDeploy {
  const cases = useCases(pipeline);
  const count = cases.data?.count ?? 0;
  const { run } = runs;
  const begun = useRef(false);
  const some = count > 0;
  useEffect(() => {
    if (!some || begun.current) return;
    begun.current = true;
    run(null);
  }, [some, run]);
  const error = cases.error ?? runs.error;
  const done = begun.current && runs.running === null;
  const failed = (cases.data?.items ?? []).filter(({ id }) => {
    const ran = runs.ran[id];
    return ran?.drawing === runs.drawing && !ran.result.passed;
  });
  return {
    waiting: error === null && (cases.isPending || (some && !done)),
    count,
    failed: done ? failed.map(({ name }) => name) : [],
    notRun: error ? error.message : null,
  };
}

/** What the test cases said, in the dialog that deploys; nothing where there are none. */
export function DeployTests({ tests }: { tests: BeforeDeploy }) {
  const { t } = useTranslation();
  const { waiting, count, failed, notRun } = tests;
  return (
    <Stack gap="xs" aria-live="polite" data-testid="deploy-tests">
      {notRun !== null && (
        <Alert
          color="yellow"
          p="xs"
          icon={<IconAlertTriangle size={17} />}
          title={t("rehearsal.notRun")}
          classNames={{ title: styles.warning, icon: styles.warning }}
        >
          {notRun} {failed.length === 0 && t("rehearsal.untested")}
        </Alert>
      )}
      {waiting && count > 0 && (
        <Group gap={8}>
          <Loader size="xs" type="dots" />
          <Text size="xs" c="dimmed">
            {t("rehearsal.runningBefore", { count })}
          </Text>
        </Group>
      )}
      {failed.length > 0 && (
        <Alert
          color="red"
          p="xs"
          icon={<IconAlertTriangle size={17} />}
          title={t("rehearsal.someFail", { count: failed.length, all: count })}
        >
          <List size="xs" mb={4}>
            {failed.map((name) => (
              <List.Item key={name}>{name}</List.Item>
            ))}
          </List>
          {t("rehearsal.someFailHelp")}
        </Alert>
      )}
      {!waiting && notRun === null && count > 0 && failed.length === 0 && (
        <Text size="xs" c="var(--hr-ok)">
          <IconCircleCheck size={14} aria-hidden style={{ verticalAlign: "-2px" }} />{" "}
          {t("rehearsal.allPass", { count })}
        </Text>
      )}
    </Stack>
  );
}
