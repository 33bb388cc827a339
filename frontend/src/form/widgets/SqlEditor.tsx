import { autocompletion } from "@codemirror/autocomplete";
import { sql } from "@codemirror/lang-sql";
import { EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import CodeMirror from "@uiw/react-codemirror";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { KnownColumn } from "../FormContext";
import { codeLook } from "./codeLook";
import { completeSql, type Known, SPARK } from "./completeSql";
import { faultMarks, setSentences } from "./faultMarks";
import { useFunctions } from "./functions";
import { sqlHelp } from "./sqlHelp";

interface Props {
  id: string;
  label: string;
  value: string;
  columns: KnownColumn[];
  /** For a whole query: what it can read from, the columns by input. */
  inputs?: Record<string, KnownColumn[]>;
  placeholder?: string;
  invalid: boolean;
  /** What the check says of the text, as sentences. */
  sentences: string[];
  onChange: (value: string) => void;
}

const SETUP = {
  lineNumbers: false,
  foldGutter: false,
  highlightActiveLine: false,
  searchKeymap: false,
  autocompletion: false,
};

/**
 * Spark SQL with highlighting, completion, help with functions, and what is wrong underlined. A
 * module of its own, so that it loads when needed.
 */
export default function SqlEditor({
  id,
  label,
  value,
  columns,
  inputs,
  placeholder,
  invalid,
  sentences,
  onChange,
}: Props) {
  const scheme = useComputedColorScheme("light");
  const functions = useFunctions();
  const [view, setView] = useState<EditorView | null>(null);
  // Read when they are wanted: an answer of the check must not set up anew what is being typed in.
  const known = useRef<Known>({ columns, functions, inputs });
  const isInvalid = useRef(invalid);
  const tell = useRef(onChange);
  useEffect(() => {
    known.current = { columns, functions, inputs };
    tell.current = onChange;
  }, [columns, functions, inputs, onChange]);
  // One that stays the same: with another the editor is set up anew, and forgets the arguments that
  // are still to be filled in.
  const change = useCallback((text: string) => tell.current(text), []);
  const extensions = useMemo(
    () => [
      sql({ dialect: SPARK }),
      codeLook(scheme),
      EditorView.lineWrapping,
      // Below the field is what is wrong with what stands in it.
      autocompletion({
        override: [completeSql(() => known.current)],
        icons: false,
        aboveCursor: true,
      }),
      sqlHelp(() => known.current),
      faultMarks,
      EditorView.contentAttributes.of(() => ({
        id: `${id}-editor`,
        "aria-label": label,
        "aria-invalid": String(isInvalid.current),
        spellcheck: "false",
      })),
    ],
    [id, label, scheme],
  );
  const said = sentences.join("\n");
  useEffect(() => {
    isInvalid.current = invalid;
    view?.dispatch({ effects: setSentences.of(said ? said.split("\n") : []) });
  }, [view, invalid, said]);
  return (
    <CodeMirror
      value={value}
      onChange={change}
      onCreateEditor={setView}
      extensions={extensions}
      basicSetup={SETUP}
      indentWithTab={false}
      placeholder={placeholder}
      theme="none"
    />
  );
}
