import { useTranslation } from "react-i18next";
import type { RuleOut } from "../api/client";
import { short } from "../text/count";
import { span } from "../text/span";

/** A rule in plain words: what it warns of, where, and whom it tells. */
export function useRuleWords() {
  const { t } = useTranslation();
  return {
    says(rule: RuleOut): string {
      const time = span(rule.seconds * 1_000);
      const what = t(`alerts.says.${rule.measure}`, {
        threshold: rule.threshold === null ? "" : short(rule.threshold),
        time,
      });
      const within = rule.measure === "restarts" || rule.measure === "no_data";
      return within || rule.seconds === 0 ? `${what}.` : `${t("alerts.lasting", { what, time })}.`;
    },
    place({ folder, pipeline, deployment }: RuleOut): string {
      if (deployment) return deployment.name;
      if (pipeline) return t("alerts.onPipeline", { name: pipeline.name });
      return folder ? t("alerts.onFolder", { name: folder }) : t("alerts.onEverything");
    },
    tells({ webhook, signed, emails }: RuleOut): string {
      const told = [t("alerts.thePage"), ...emails];
      if (webhook) told.push(signed ? t("alerts.signed", { webhook }) : webhook);
      return t("alerts.tells", { whom: told.join(", ") });
    },
  };
}
