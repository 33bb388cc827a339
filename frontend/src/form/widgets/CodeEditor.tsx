import { python } from "@codemirror/lang-python";
import { EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import CodeMirror from "@uiw/react-codemirror";
import { useMemo } from "react";
import { codeLook } from "./codeLook";

interface Props {
  id: string;
  label: string;
  value: string;
  invalid: boolean;
  onChange: (value: string) => void;
}

const SETUP = {
  tabSize: 4,
  foldGutter: false,
  highlightActiveLine: false,
  highlightActiveLineGutter: false,
  searchKeymap: false,
  autocompletion: false,
};

/**
 * Python to write. Tab indents, as everywhere where code is written; Escape and then Tab leaves.
 * A module of its own, so that it loads when needed.
 */
export default function CodeEditor({ id, label, value, invalid, onChange }: Props) {
  const scheme = useComputedColorScheme("light");
  const extensions = useMemo(
    () => [
      python(),
      codeLook(scheme),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        id: `${id}-editor`,
        "aria-label": label,
        "aria-invalid": String(invalid),
        spellcheck: "false",
      }),
    ],
    [id, label, invalid, scheme],
  );
  return (
    <CodeMirror
      value={value}
      onChange={onChange}
      extensions={extensions}
      basicSetup={SETUP}
      indentWithTab
      theme="none"
    />
  );
}
