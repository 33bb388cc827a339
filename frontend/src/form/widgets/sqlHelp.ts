import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import { type Call, callAt, tokens } from "../sqlTokens";
import type { Known } from "./completeSql";
import { functionDoc, signatureHelp } from "./functionDoc";

const hide = StateEffect.define();

interface Shown {
  call: Call | null;
  tooltip: Tooltip | null;
}

const NOTHING: Shown = { call: null, tooltip: null };

/**
 * The signature of the function whose arguments are being written, which Escape puts away; and
 * what a function or column under the pointer is.
 */
export function sqlHelp(known: () => Known): Extension {
  function shown({ doc, selection }: EditorState): Shown {
    const call = callAt(doc.toString(), selection.main.head);
    const described = call && known().functions.find(({ name }) => name === call.name);
    if (!described) return NOTHING;
    const tooltip: Tooltip = {
      pos: call.from,
      above: true,
      create: () => ({ dom: signatureHelp(described, call.argument) }),
    };
    return { call, tooltip };
  }

  const signature = StateField.define<Shown>({
    create: () => NOTHING,
    update(before, change) {
      if (change.effects.some((effect) => effect.is(hide))) return { ...before, tooltip: null };
      if (!change.docChanged && !change.selection) return before;
      const next = shown(change.state);
      if (isSame(before.call, next.call)) return before;
      return next;
    },
    provide: (field) => showTooltip.from(field, ({ tooltip }) => tooltip),
  });

  const putAway = keymap.of([
    {
      key: "Escape",
      run: (view) => {
        if (!view.state.field(signature).tooltip) return false;
        view.dispatch({ effects: hide.of(null) });
        return true;
      },
    },
  ]);

  const hover = hoverTooltip((view, at) => {
    const all = tokens(view.state.doc.toString());
    const i = all.findIndex(({ from, to }) => from <= at && at <= to);
    const token = all[i];
    if (!token) return null;
    const dom = docOf(known(), token.name, all[i + 1]?.name === "(");
    return dom && { pos: token.from, end: token.to, above: true, create: () => ({ dom }) };
  });

  return [signature, putAway, hover];
}

function docOf({ functions, columns }: Known, name: string, isCalled: boolean) {
  const lower = name.toLowerCase();
  if (isCalled) {
    const described = functions.find((f) => f.name === lower);
    return described ? functionDoc(described) : null;
  }
  const column = columns.find((c) => c.name.toLowerCase() === lower);
  if (!column?.type) return null;
  const dom = document.createElement("code");
  dom.className = "cm-function-doc";
  dom.textContent = `${column.name}: ${column.type}`;
  return dom;
}

function isSame(a: Call | null, b: Call | null): boolean {
  return a?.name === b?.name && a?.argument === b?.argument && a?.from === b?.from;
}
