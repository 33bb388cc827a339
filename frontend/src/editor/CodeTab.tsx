import { Button, CopyButton } from "@mantine/core";
import { IconCheck, IconCopy, IconDownload } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useCheck, useSelection } from "../canvas/CanvasContext";
import { meaning } from "../canvas/editGraph";
import { useGraph } from "../canvas/graphStore";
import { download } from "../text/download";
import styles from "./Drawer.module.css";
import { statementsOf } from "./statements";
import { useProgram } from "./useCheckedGraph";

const PythonView = lazy(() => import("./PythonView"));

/** The PySpark program the drawing stands for, to read, copy and take along. */
export function CodeTab({ name }: { name: string }) {
  const { t } = useTranslation();
  const said = useGraph((graph) => JSON.stringify(meaning(graph)));
  const sound = useCheck((s) => !s.problems.some((p) => p.severity === "error"));
  const checking = useCheck((s) => s.checking);
  const program = useProgram(said, sound && !checking);
  const newest = program.data?.script;
  const [shown, setShown] = useState(newest);
  useEffect(() => {
    if (newest !== undefined) setShown(newest);
  }, [newest]);
  // While the next one is being compiled, the one before is better to read than nothing.
  const script = newest ?? (sound && !program.error ? shown : undefined);
  if (script === undefined)
    return (
      <p className={styles.nothing}>
        {program.error ? program.error.message : sound ? t("code.compiling") : t("code.unsound")}
      </p>
    );
  return (
    <div className={styles.code} data-testid="code">
      <div className={styles.tools}>
        <CopyButton value={script}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              size="compact-xs"
              leftSection={copied ? <IconCheck size={13} /> : <IconCopy size={13} />}
              onClick={copy}
            >
              {copied ? t("code.copied") : t("code.copy")}
            </Button>
          )}
        </CopyButton>
        <Button
          variant="default"
          size="compact-xs"
          leftSection={<IconDownload size={13} />}
          onClick={() => download(`${slug(name)}.py`, "text/x-python", script)}
        >
          {t("code.download")}
        </Button>
      </div>
      <Suspense fallback={<pre style={{ margin: 12 }}>{script}</pre>}>
        <Program script={script} />
      </Suspense>
    </div>
  );
}

/** The program, following the selected step. */
function Program({ script }: { script: string }) {
  const { t } = useTranslation();
  const chosen = useSelection((s) => (s.steps.length === 1 ? s.steps[0] : undefined));
  const steps = useGraph((graph) => graph.steps);
  const ids = steps.map(({ id }) => id);
  const marked = chosen === undefined ? [] : statementsOf(script, chosen, ids);
  return <PythonView script={script} label={t("drawer.code")} marked={marked} />;
}

function slug(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "job"
  );
}
