import { Button } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { KnownColumn } from "../form/FormContext";
import styles from "./Columns.module.css";
import { type ComparedColumn, compareColumns } from "./compareColumns";

interface Props {
  columns: KnownColumn[];
  keys?: string[];
  /** The columns before this step: what was added, removed or retyped since is marked. */
  before?: KnownColumn[];
}

const SIGNS = { added: "+", removed: "−", retyped: "≠", same: "" };

/** Columns with their types; the ones a source adds by itself (`_…`) only when asked for. */
export function Columns({ columns, keys = [], before }: Props) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const compared = compareColumns(before ?? columns, columns);
  const own = compared.filter(({ name }) => !name.startsWith("_"));
  const hidden = compared.length - own.length;
  const shown = all ? compared : own;
  if (shown.length === 0 && hidden === 0) return <p className={styles.none}>{t("columns.none")}</p>;
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
          {shown.map((column) => (
            <Row key={column.name} column={column} isKey={keys.includes(column.name)} />
          ))}
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

function Row({ column, isKey }: { column: ComparedColumn; isKey: boolean }) {
  const { t } = useTranslation();
  const { name, type, was, change } = column;
  return (
    <tr data-change={change} data-column={name}>
      <td>
        <span className={styles.sign} aria-hidden>
          {SIGNS[change]}
        </span>
        {change !== "same" && <span className="visually-hidden">{t(`columns.${change}`)} </span>}
        {change === "removed" ? <del>{name}</del> : name}
      </td>
      <td>
        {change === "retyped" && (
          <>
            <del>{was}</del> →{" "}
          </>
        )}
        {type ?? t("columns.unknown")}
        {isKey && ` · ${t("columns.key")}`}
      </td>
    </tr>
  );
}
