import { python } from "@codemirror/lang-python";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import CodeMirror from "@uiw/react-codemirror";
import { useEffect, useMemo, useState } from "react";
import { codeLook } from "../form/widgets/codeLook";
import type { Lines } from "./statements";

interface Props {
  script: string;
  label: string;
  /** The parts to mark; the first is brought into view. */
  marked: Lines[];
}

const SETUP = { foldGutter: false, highlightActiveLine: false, searchKeymap: true };
const MARGIN = 12;

const mark = StateEffect.define<Lines[]>();
const MARKED = Decoration.line({ class: "cm-of-step" });
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, change) {
    const effect = change.effects.findLast((e) => e.is(mark));
    if (!effect) return before.map(change.changes);
    const { doc } = change.state;
    const lines = effect.value.flatMap(({ from, to }) =>
      Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((n) => n <= doc.lines),
    );
    return Decoration.set(
      lines.map((n) => MARKED.range(doc.line(n).from)),
      true,
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});
const look = EditorView.theme({
  ".cm-of-step": {
    backgroundColor: "color-mix(in srgb, var(--hr-accent) 9%, transparent)",
    boxShadow: "inset 2px 0 var(--hr-accent)",
  },
});

/** Python to read. A module of its own, so that it loads when needed. */
export default function PythonView({ script, label, marked }: Props) {
  const scheme = useComputedColorScheme("light");
  const [view, setView] = useState<EditorView | null>(null);
  const extensions = useMemo(
    () => [
      python(),
      codeLook(scheme),
      marks,
      look,
      EditorView.contentAttributes.of({ "aria-label": label }),
    ],
    [label, scheme],
  );
  const said = JSON.stringify(marked);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another script has its lines elsewhere
  useEffect(() => {
    if (!view) return;
    const parts: Lines[] = JSON.parse(said);
    const effects: StateEffect<unknown>[] = [mark.of(parts)];
    const first = parts[0];
    if (first && first.from <= view.state.doc.lines) {
      const at = view.state.doc.line(first.from).from;
      effects.push(EditorView.scrollIntoView(at, { y: "start", yMargin: MARGIN }));
    }
    view.dispatch({ effects });
  }, [view, said, script]);
  return (
    <CodeMirror
      value={script}
      extensions={extensions}
      onCreateEditor={setView}
      basicSetup={SETUP}
      theme="none"
      readOnly
      height="100%"
      style={{ height: "100%", fontSize: 12 }}
    />
  );
}
