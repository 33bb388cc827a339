import { Button, Pagination } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Rows } from "../api/types";
import { namesIn } from "./columnsOf";
import styles from "./Rehearsal.module.css";
import { Scrolled } from "./Scrolled";

const PAGE = 25;
// What a step's own columns are not, and few look at.
const HIDDEN = new Set(["_key", "_timestamp"]);

interface Props {
  rows: Rows;
  label: string;
  /** Columns that are shown although their names begin with `_`. */
  keys?: string[];
  /** How many rows there are in all, where fewer came. */
  all?: number;
}

/** Rows to be read: deletions are struck out and say so, batches are told apart. */
export function ResultRows({ rows, label, keys = [], all = rows.length }: Props) {
  const { t } = useTranslation();
  const [page, setPage] = useState(1);
  const [whole, setWhole] = useState(false);
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const at = Math.min(page, pages);
  const named = namesIn(rows).filter((name) => name !== "_deleted" && name !== "_batch");
  const hidden = named.filter((name) => HIDDEN.has(name) && !keys.includes(name));
  const names = whole ? named : named.filter((name) => !hidden.includes(name));
  const batches = rows.some((row) => Number(row._batch ?? 0) > 0);
  const deletions = rows.some((row) => row._deleted === true);
  return (
    <>
      <Scrolled label={label}>
        <table className={styles.rows} data-read>
          <thead>
            <tr>
              {batches && <th scope="col">{t("rehearsal.batch")}</th>}
              {deletions && <th scope="col">{t("rehearsal.deletion")}</th>}
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice((at - 1) * PAGE, at * PAGE).map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
              <tr key={i} data-deleted={row._deleted === true}>
                {batches && <td className={styles.number}>{String(row._batch ?? 0)}</td>}
                {deletions && <td>{row._deleted === true && <b>{t("rehearsal.deleted")}</b>}</td>}
                {names.map((name) => (
                  <td key={name} data-number={typeof row[name] === "number"}>
                    {name in row ? <Value value={row[name]} /> : null}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      {all > rows.length && (
        <p className={styles.hint}>{t("rehearsal.firstOf", { shown: rows.length, all })}</p>
      )}
      {hidden.length > 0 && (
        <Button variant="subtle" size="compact-xs" mt={4} onClick={() => setWhole(!whole)}>
          {t(whole ? "rehearsal.hideColumns" : "rehearsal.showColumns", {
            names: hidden.join(", "),
          })}
        </Button>
      )}
      {pages > 1 && (
        <Pagination
          size="xs"
          mt={4}
          total={pages}
          value={at}
          onChange={setPage}
          getControlProps={(control) => ({ "aria-label": t(`rehearsal.page.${control}`) })}
          aria-label={t("rehearsal.pages")}
        />
      )}
    </>
  );
}

/** A value as text; nested ones as JSON. */
export function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className={styles.null}>null</span>;
  if (value === "") return <span className={styles.null}>""</span>;
  if (typeof value !== "object") return String(value);
  const text = JSON.stringify(value);
  return <span title={text}>{spanOf(value) ?? text}</span>;
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}(?:\.\d+)?)Z?$/;

/** A window as people write a span of time; null for everything else. */
export function spanOf(value: object): string | null {
  const { start, end, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) return null;
  const [from, to] = [MOMENT.exec(String(start)), MOMENT.exec(String(end))];
  if (!from || !to) return null;
  const [first, last] = [from, to].map((m) => (m[2] ?? "").replace(/\.0+$/, ""));
  return `${from[1]} ${first} → ${from[1] === to[1] ? "" : `${to[1]} `}${last}`;
}
