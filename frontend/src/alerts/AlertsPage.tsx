import { Tabs } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router";
import { Page } from "../shell/Page";
import { useTitle } from "../shell/useTitle";
import { AlertHistory } from "./AlertHistory";
import { AlertRules } from "./AlertRules";
import { Silences } from "./Silences";

const TABS = { rules: AlertRules, silences: Silences, history: AlertHistory };
type TabName = keyof typeof TABS;
const NAMES = Object.keys(TABS) as TabName[];

/** What to warn of and whom to tell, what is silenced, and what there has been. */
export function AlertsPage() {
  const { t } = useTranslation();
  const [search, setSearch] = useSearchParams();
  const asked = search.get("tab");
  const tab = NAMES.find((name) => name === asked) ?? "rules";
  useTitle(t("alerts.title"));
  return (
    <Page>
      <h1 style={{ margin: "0 0 10px", fontSize: 19 }}>{t("alerts.title")}</h1>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(name) => setSearch({ tab: name ?? "rules" }, { replace: true })}
      >
        <Tabs.List mb="md">
          {NAMES.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`alerts.tab.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {NAMES.map((name) => {
          const Content = TABS[name];
          return (
            <Tabs.Panel key={name} value={name}>
              <Content />
            </Tabs.Panel>
          );
        })}
      </Tabs>
    </Page>
  );
}
