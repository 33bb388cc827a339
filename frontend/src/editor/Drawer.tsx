import { ActionIcon, Tabs } from "@mantine/core";
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { useCheck } from "../canvas/CanvasContext";
import { CodeTab } from "./CodeTab";
import styles from "./Drawer.module.css";
import { ProblemsTab } from "./ProblemsTab";
import type { Editing } from "./useEditing";

export type DrawerTab = "problems" | "code";

interface Props {
  tab: DrawerTab | null;
  onTab: (tab: DrawerTab | null) => void;
  editing: Editing;
  name: string;
}

/** Below the canvas: what is wrong, and the program the drawing stands for. */
export function Drawer({ tab, onTab, editing, name }: Props) {
  const { t } = useTranslation();
  const problems = useCheck((s) => s.problems.length);
  return (
    <section className={styles.drawer} aria-label={t("drawer.name")}>
      <Tabs value={tab} onChange={(next) => onTab(next as DrawerTab | null)} variant="default">
        <Tabs.List>
          <Tabs.Tab value="problems" onClick={() => tab === "problems" && onTab(null)}>
            {t("drawer.problems")} {problems > 0 && problems}
          </Tabs.Tab>
          <Tabs.Tab value="code" onClick={() => tab === "code" && onTab(null)}>
            {t("drawer.code")}
          </Tabs.Tab>
          <ActionIcon
            ml="auto"
            mr={6}
            my="auto"
            aria-label={t(tab ? "drawer.close" : "drawer.open")}
            aria-expanded={tab !== null}
            onClick={() => onTab(tab ? null : "problems")}
          >
            {tab ? <IconChevronDown size={15} /> : <IconChevronUp size={15} />}
          </ActionIcon>
        </Tabs.List>
      </Tabs>
      {tab && (
        <div className={styles.body}>
          {tab === "problems" ? <ProblemsTab editing={editing} /> : <CodeTab name={name} />}
        </div>
      )}
    </section>
  );
}
