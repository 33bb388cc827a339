import { autocompletion } from "@codemirror/autocomplete";
import { sql } from "@codemirror/lang-sql";
import { EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import CodeMirror from "@uiw/react-codemirror";
import { useMemo } from "react";
import type { KnownColumn } from "../FormContext";
import { completeSql, SPARK } from "./completeSql";

interface Props {
  id: string;
  label: string;
  value: string;
  columns: KnownColumn[];
  /** For a whole query: what it can read from. */
  inputs?: string[];
  placeholder?: string;
  invalid: boolean;
  onChange: (value: string) => void;
}

const SETUP = {
  lineNumbers: false,
  foldGutter: false,
  highlightActiveLine: false,
  searchKeymap: false,
  autocompletion: false,
};

/** Spark SQL with highlighting and completion. A module of its own, so that it loads when needed. */
export default function SqlEditor({
  id,
  label,
  value,
  columns,
  inputs,
  placeholder,
  invalid,
  onChange,
}: Props) {
  const scheme = useComputedColorScheme("light");
  // Lists that are made anew with the same names in them must not set the editor up anew.
  const known = JSON.stringify([columns, inputs]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are told apart by what they say
  const extensions = useMemo(
    () => [
      sql({ dialect: SPARK }),
      EditorView.lineWrapping,
      autocompletion({ override: [completeSql(columns, inputs)], icons: false }),
      EditorView.contentAttributes.of({
        id: `${id}-editor`,
        "aria-label": label,
        "aria-invalid": String(invalid),
        spellcheck: "false",
      }),
    ],
    [id, label, known, invalid],
  );
  return (
    <CodeMirror
      value={value}
      onChange={onChange}
      extensions={extensions}
      basicSetup={SETUP}
      indentWithTab={false}
      placeholder={placeholder}
      theme={scheme}
    />
  );
}
