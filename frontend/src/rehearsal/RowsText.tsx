import { EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import CodeMirror from "@uiw/react-codemirror";
import { useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Rows } from "../api/types";
import { isTaken, type LineProblem, readJsonLines, writeJsonLines } from "./jsonLines";
import styles from "./Rehearsal.module.css";

const SETUP = { foldGutter: false, highlightActiveLine: false, searchKeymap: false };
const SHOWN = 3;

interface Props {
  rows: Rows;
  label: string;
  onChange: (rows: Rows) => void;
  /** Whether every line can be read, when that changes. */
  onSound?: (sound: boolean) => void;
}

/**
 * Rows as JSON, one on each line. They become the rows once every line can be read. A module of
 * its own, so that the editor loads when it is needed.
 */
export default function RowsText({ rows, label, onChange, onSound }: Props) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme("light");
  const [text, setText] = useState(() => writeJsonLines(rows));
  const [problems, setProblems] = useState<LineProblem[]>([]);
  const [tooLarge, setTooLarge] = useState(false);
  const own = useRef(rows);

  // Rows that came from elsewhere, as from a topic, are written anew.
  if (own.current !== rows) {
    own.current = rows;
    setText(writeJsonLines(rows));
    setProblems([]);
  }

  const read = useDebouncedCallback(
    (next: string) => {
      const found = readJsonLines(next);
      setProblems(found.problems);
      onSound?.(found.problems.length === 0);
      if (found.problems.length > 0) return;
      own.current = found.rows;
      onChange(found.rows);
    },
    { delay: 300, flushOnUnmount: true },
  );

  function change(next: string) {
    const small = isTaken(next);
    setTooLarge(!small);
    setText(next);
    if (small) read(next);
    else onSound?.(false);
  }

  const extensions = useMemo(
    () => [
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
      EditorView.theme({ "&": { fontSize: "12px" } }),
    ],
    [label],
  );
  return (
    <div className={styles.text} data-invalid={problems.length > 0 || tooLarge}>
      <CodeMirror
        value={text}
        onChange={change}
        onBlur={read.flush}
        extensions={extensions}
        basicSetup={SETUP}
        indentWithTab={false}
        placeholder={'{"product": "x", "_batch": 0}'}
        theme={scheme}
        maxHeight="320px"
      />
      <div aria-live="polite">
        {tooLarge && <p className={styles.wrong}>{t("rehearsal.tooLarge")}</p>}
        {problems.slice(0, SHOWN).map(({ line, why }) => (
          <p key={line} className={styles.wrong}>
            {t("rehearsal.line", { line })} {t(`rehearsal.lineProblem.${why}`)}
          </p>
        ))}
        {problems.length > 0 && <p className={styles.hint}>{t("rehearsal.notTaken")}</p>}
      </div>
    </div>
  );
}
