import { Skeleton } from "@mantine/core";
import type { Template } from "../api/types";
import { useCatalogue } from "../canvas/useCatalogue";
import { GraphPicture } from "./GraphPicture";
import styles from "./TemplateGallery.module.css";
import { useTemplates } from "./usePipelines";

interface Props {
  making: boolean;
  onChoose: (template: Template) => void;
}

/** Pipelines to begin with, each with a picture of its graph. */
export function TemplateGallery({ making, onChoose }: Props) {
  const templates = useTemplates();
  const catalogue = useCatalogue();
  if (!templates.data || !catalogue)
    return (
      <div className={styles.grid}>
        <Skeleton h={190} />
        <Skeleton h={190} />
      </div>
    );
  return (
    <div className={styles.grid}>
      {templates.data.map((template) => (
        <button
          key={template.name}
          type="button"
          className={styles.card}
          data-template={template.name}
          disabled={making}
          onClick={() => onChoose(template)}
        >
          <GraphPicture graph={template.graph} catalogue={catalogue} />
          <span className={styles.title}>{template.title}</span>
          <span className={styles.about}>{template.about}</span>
        </button>
      ))}
    </div>
  );
}
