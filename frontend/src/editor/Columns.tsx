import { Button } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { KnownColumn } from "../form/FormContext";
import styles from "./StepPanel.module.css";

interface Props {
  columns: KnownColumn[];
  keys?: string[];
  /** The columns before this step: those that are new or of another type are marked. */
  before?: KnownColumn[];
}

/** Columns with their types; the ones a source adds by itself (`_…`) only when asked for. */
export function Columns({ columns, keys = [], before }: Props) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const own = columns.filter((column) => !column.name.startsWith("_"));
  const hidden = columns.length - own.length;
  const types = before && new Map(before.map((column) => [column.name, column.type]));
  return (
    <>
      <table className={styles.columns}>
        <thead>
          <tr>
            <th scope="col">{t("columns.name")}</th>
            <th scope="col">{t("columns.type")}</th>
          </tr>
        </thead>
        <tbody>
          {(all ? columns : own).map(({ name, type }) => {
            const changed = types && (!types.has(name) || types.get(name) !== type);
            return (
              <tr key={name} className={changed ? styles.added : undefined}>
                <td>
                  {changed && <span className="visually-hidden">{t("columns.changed")} </span>}
                  {name}
                </td>
                <td>
                  {type ?? t("columns.unknown")}
                  {keys.includes(name) && ` · ${t("columns.key")}`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {hidden > 0 && (
        <Button variant="subtle" size="compact-xs" mt={4} onClick={() => setAll(!all)}>
          {all ? t("columns.fewer") : t("columns.more", { count: hidden })}
        </Button>
      )}
    </>
  );
}
