import { createSpotlight, Spotlight } from "@mantine/spotlight";
import { IconPlus } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { Position } from "../api/graph";
import { useCanvas } from "../canvas/CanvasContext";
import { inputFor } from "../canvas/connectionRules";
import { useGraphStore } from "../canvas/graphStore";
import { kindOf } from "../canvas/ports";
import { StepIcon } from "../canvas/StepIcon";
import type { Editing } from "./useEditing";

export const [addStepStore, addStepSpotlight] = createSpotlight();

/** Where the step shall go: a place on the canvas, and the output whose rows it shall read. */
export interface Wanted {
  at?: Position;
  from?: { step: string; output: string };
}

/** Add a step by typing; behind an edge that was dropped on the canvas, only what can follow. */
export function AddStepSpotlight({ wanted, editing }: { wanted: Wanted; editing: Editing }) {
  const { t } = useTranslation();
  const { catalogue, check } = useCanvas();
  const store = useGraphStore();
  const { from, at } = wanted;
  const kind = from && kindOf(store.graph(), catalogue, check.getState().steps, from.step);
  const types = [...catalogue.values()].filter(
    (type) => !kind || inputFor(type, kind) !== undefined,
  );
  return (
    <Spotlight
      store={addStepStore}
      shortcut={null}
      actions={types.map((type) => ({
        id: type.type,
        label: type.title,
        description: type.help,
        keywords: [type.type, type.group],
        leftSection: <StepIcon name={type.icon} size={18} />,
        onClick: () => (from ? editing.addAfter(type, from, at) : editing.add(type, at)),
      }))}
      nothingFound={t("spotlight.noStep")}
      highlightQuery
      scrollable
      maxHeight={440}
      searchProps={{
        leftSection: <IconPlus size={17} aria-hidden />,
        placeholder: t(from ? "spotlight.addAfter" : "spotlight.addStep"),
        "aria-label": t("spotlight.addStep"),
      }}
    />
  );
}
