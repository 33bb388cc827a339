import { ActionIcon, Tabs } from "@mantine/core";
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { useCheck } from "../canvas/CanvasContext";
import { CasesTab } from "../rehearsal/CasesTab";
import { RowsTab } from "../rehearsal/RowsTab";
import type { CaseRuns } from "../rehearsal/useCases";
import { CodeTab } from "./CodeTab";
import styles from "./Drawer.module.css";
import { PlanTab } from "./PlanTab";
import { ProblemsTab } from "./ProblemsTab";
import type { Editing } from "./useEditing";

const TABS = ["problems", "rows", "cases", "plan", "code"] as const;
export type DrawerTab = (typeof TABS)[number];

interface Props {
  tab: DrawerTab | null;
  onTab: (tab: DrawerTab | null) => void;
  editing: Editing;
  name: string;
  pipeline: string;
  save: () => Promise<boolean>;
  runs: CaseRuns;
}

/** Below the canvas: what is wrong, what it is tested with, what it runs as, and its program. */
export function Drawer({ tab, onTab, editing, name, pipeline, save, runs }: Props) {
  const { t } = useTranslation();
  const problems = useCheck((s) => s.problems.length);
  return (
    <section className={styles.drawer} aria-label={t("drawer.name")}>
      <Tabs
        value={tab}
        onChange={(next) => onTab(next as DrawerTab | null)}
        className={styles.tabs}
      >
        <Tabs.List flex={1}>
          {TABS.map((value) => (
            <Tabs.Tab key={value} value={value} onClick={() => tab === value && onTab(null)}>
              {t(`drawer.${value}`)} {value === "problems" && problems > 0 && problems}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <ActionIcon
          mx={6}
          aria-label={t(tab ? "drawer.close" : "drawer.open")}
          aria-expanded={tab !== null}
          onClick={() => onTab(tab ? null : "problems")}
        >
          {tab ? <IconChevronDown size={15} /> : <IconChevronUp size={15} />}
        </ActionIcon>
      </Tabs>
      {tab && (
        <div className={styles.body}>
          {tab === "problems" && <ProblemsTab editing={editing} />}
          {tab === "rows" && <RowsTab pipeline={pipeline} />}
          {tab === "cases" && (
            <CasesTab pipeline={pipeline} runs={runs} onLoaded={() => onTab("rows")} />
          )}
          {tab === "plan" && <PlanTab pipeline={pipeline} save={save} editing={editing} />}
          {tab === "code" && <CodeTab name={name} />}
        </div>
      )}
    </section>
  );
}
