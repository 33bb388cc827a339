import { python } from "@codemirror/lang-python";
import { EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import CodeMirror from "@uiw/react-codemirror";

const SETUP = { foldGutter: false, highlightActiveLine: false, searchKeymap: true };

/** Python to read. A module of its own, so that it loads when needed. */
export default function PythonView({ script, label }: { script: string; label: string }) {
  const scheme = useComputedColorScheme("light");
  return (
    <CodeMirror
      value={script}
      extensions={[python(), EditorView.contentAttributes.of({ "aria-label": label })]}
      basicSetup={SETUP}
      theme={scheme}
      readOnly
      style={{ fontSize: 12 }}
    />
  );
}
