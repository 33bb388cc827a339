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
  placeholder,
  invalid,
  onChange,
}: Props) {
  const scheme = useComputedColorScheme("light");
  const extensions = useMemo(
    () => [
      sql({ dialect: SPARK }),
      EditorView.lineWrapping,
      autocompletion({ override: [completeSql(columns)], icons: false }),
      EditorView.contentAttributes.of({
        id: `${id}-editor`,
        "aria-label": label,
        "aria-invalid": String(invalid),
        spellcheck: "false",
      }),
    ],
    [id, label, columns, invalid],
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
