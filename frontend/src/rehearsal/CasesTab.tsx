import { Alert, Button } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPlay } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { OneCase } from "./OneCase";
import styles from "./Rehearsal.module.css";
import { type CaseRuns, useCases } from "./useCases";

interface Props {
  pipeline: string;
  runs: CaseRuns;
  /** A case's rows are those to test with now. */
  onLoaded: () => void;
}

/** The test cases of the pipeline: run, compared, changed. */
export function CasesTab({ pipeline, runs, onLoaded }: Props) {
  const { t } = useTranslation();
  const cases = useCases(pipeline);
  if (cases.error) return <p className={styles.nothing}>{cases.error.message}</p>;
  if (!cases.data) return <p className={styles.nothing}>{t("loading")}</p>;
  const { items, count } = cases.data;
  if (items.length === 0) return <p className={styles.nothing}>{t("rehearsal.noCases")}</p>;
  return (
    <div className={styles.tab} data-testid="cases-tab">
      <div className={styles.bar}>
        <Button
          size="compact-xs"
          leftSection={<IconPlayerPlay size={13} aria-hidden />}
          disabled={runs.running !== null}
          onClick={() => runs.run(null)}
        >
          {t(runs.running === "all" ? "rehearsal.runningAll" : "rehearsal.runAll")}
        </Button>
        <span className={styles.soft}>{t("rehearsal.caseCount", { count })}</span>
      </div>
      {runs.error && (
        <Alert
          color="red"
          p="xs"
          icon={<IconAlertTriangle size={17} />}
          title={t("rehearsal.notRun")}
          role="alert"
        >
          {runs.error.message}
        </Alert>
      )}
      <ul className={styles.cases}>
        {items.map((item) => (
          <OneCase key={item.id} pipeline={pipeline} item={item} runs={runs} onLoaded={onLoaded} />
        ))}
      </ul>
    </div>
  );
}
