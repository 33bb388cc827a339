import { Kbd } from "@mantine/core";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { useCanvas } from "../canvas/CanvasContext";
import { useGraph } from "../canvas/graphStore";
import { StepIcon } from "../canvas/StepIcon";
import { summary } from "../canvas/summary";
import { type Action, readKeys } from "./useActions";
import type { Editing } from "./useEditing";

export const [actionStore, actionSpotlight] = createSpotlight();

/** Every action with its keys, and every step by its label, type and what it says. */
export function ActionSpotlight({ actions, editing }: { actions: Action[]; editing: Editing }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const steps = useGraph((graph) => graph.steps);
  const groups: SpotlightActionGroupData[] = [
    {
      group: t("spotlight.steps"),
      actions: steps.map((step) => {
        const type = catalogue.get(step.type);
        return {
          id: `step ${step.id}`,
          label: step.label || type?.title || step.id,
          description: summary(step),
          keywords: [step.id, step.type, type?.title ?? "", JSON.stringify(step.config)],
          leftSection: <StepIcon name={type?.icon ?? ""} size={17} />,
          onClick: () => editing.show(step.id),
        };
      }),
    },
    {
      group: t("spotlight.actions"),
      actions: actions.map(({ id, label, keys, run }) => ({
        id,
        label,
        rightSection: keys ? <Kbd>{readKeys(keys)}</Kbd> : undefined,
        onClick: run,
      })),
    },
  ];
  return (
    <Spotlight
      store={actionStore}
      actions={groups.filter((group) => group.actions.length > 0)}
      shortcut={null}
      nothingFound={t("spotlight.nothing")}
      highlightQuery
      scrollable
      maxHeight={440}
      searchProps={{
        leftSection: <IconSearch size={17} aria-hidden />,
        placeholder: t("spotlight.placeholder"),
        "aria-label": t("spotlight.placeholder"),
      }}
    />
  );
}
