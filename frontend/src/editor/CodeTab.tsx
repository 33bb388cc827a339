import { Button, CopyButton } from "@mantine/core";
import { IconCheck, IconCopy, IconDownload } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { useCheck } from "../canvas/CanvasContext";
import { meaning } from "../canvas/editGraph";
import { useGraph } from "../canvas/graphStore";
import { download } from "../text/download";
import styles from "./Drawer.module.css";
import { useProgram } from "./useCheckedGraph";

const PythonView = lazy(() => import("./PythonView"));

/** The PySpark program the drawing stands for, to read, copy and take along. */
export function CodeTab({ name }: { name: string }) {
  const { t } = useTranslation();
  const said = useGraph((graph) => JSON.stringify(meaning(graph)));
  const sound = useCheck((s) => !s.checking && !s.problems.some((p) => p.severity === "error"));
  const program = useProgram(said, sound);
  if (!program.data)
    return (
      <p className={styles.nothing}>
        {program.error ? program.error.message : sound ? t("code.compiling") : t("code.unsound")}
      </p>
    );
  const { script } = program.data;
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
        <PythonView script={script} label={t("drawer.code")} />
      </Suspense>
    </div>
  );
}

function slug(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "job"
  );
}
