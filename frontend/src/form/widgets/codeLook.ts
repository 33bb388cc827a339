import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Red is kept for what is wrong.
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--hr-state)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--hr-ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--hr-sinks)" },
  { tag: [tags.typeName, tags.className], color: "var(--hr-sources)" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: "var(--hr-rows)",
  },
  { tag: tags.comment, color: "var(--hr-faint)" },
]);

const look = (dark: boolean) =>
  EditorView.theme(
    {
      "&": { color: "var(--hr-ink)" },
      ".cm-content": { caretColor: "var(--hr-ink)" },
      ".cm-cursor": { borderLeftColor: "var(--hr-ink)" },
      ".cm-gutters": { color: "var(--hr-faint)" },
    },
    { dark },
  );

const LOOKS = { light: look(false), dark: look(true) };

/** How code looks here, wherever it is read or written. */
export function codeLook(scheme: "light" | "dark"): Extension {
  return [LOOKS[scheme], syntaxHighlighting(COLOURS)];
}
