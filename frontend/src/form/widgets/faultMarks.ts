import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { faultsIn } from "../mistake";

/** What the check says of the text, as sentences. */
export const setSentences = StateEffect.define<string[]>();

interface Marked {
  sentences: string[];
  marks: DecorationSet;
}

const WRONG = Decoration.mark({ class: "cm-wrong" });

/** Underlines what the sentences name, where it stands now; it goes as soon as it is mended. */
export const faultMarks = StateField.define<Marked>({
  create: () => ({ sentences: [], marks: Decoration.none }),
  update(before, change) {
    let { sentences } = before;
    for (const effect of change.effects) if (effect.is(setSentences)) sentences = effect.value;
    if (sentences === before.sentences && !change.docChanged) return before;
    const places = faultsIn(change.newDoc.toString(), sentences);
    return {
      sentences,
      marks: Decoration.set(
        places.map((p) => WRONG.range(p.from, p.to)),
        true,
      ),
    };
  },
  provide: (field) => EditorView.decorations.from(field, ({ marks }) => marks),
});
