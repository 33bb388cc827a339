import { Button, Group } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { useCatalogue } from "../canvas/useCatalogue";
import { GraphPicture } from "./GraphPicture";
import styles from "./PipelinesPage.module.css";
import { useTemplates } from "./usePipelines";

const FIRST = "word-count";

interface Props {
  making: boolean;
  onTemplate: (name: string) => void;
  onEmpty: () => void;
}

/** Nothing is there yet: what a pipeline is, and one button that makes the first. */
export function EmptyState({ making, onTemplate, onEmpty }: Props) {
  const { t } = useTranslation();
  const { data: templates } = useTemplates();
  const catalogue = useCatalogue();
  const first = templates?.find((template) => template.name === FIRST) ?? templates?.[0];
  return (
    <section className={styles.teach}>
      <div>
        <h2>{t("empty.title")}</h2>
        <p className={styles.small}>{t("empty.what")}</p>
        <ol>
          <li>{t("empty.draw")}</li>
          <li>{t("empty.deploy")}</li>
          <li>{t("empty.watch")}</li>
        </ol>
        <Group gap="xs">
          <Button
            size="sm"
            loading={making}
            disabled={!first}
            leftSection={<IconSparkles size={16} aria-hidden />}
            onClick={() => first && onTemplate(first.name)}
          >
            {t("empty.first")}
          </Button>
          <Button size="sm" variant="default" disabled={making} onClick={onEmpty}>
            {t("empty.own")}
          </Button>
        </Group>
      </div>
      {first && catalogue && (
        <div className={styles.picture}>
          <GraphPicture graph={first.graph} catalogue={catalogue} />
          <p className={styles.small} style={{ margin: "8px 2px 0" }}>
            {first.about}
          </p>
        </div>
      )}
    </section>
  );
}
