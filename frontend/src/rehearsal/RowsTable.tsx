import { ActionIcon, Pagination } from "@mantine/core";
import { IconCopy, IconX } from "@tabler/icons-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Rows } from "../api/types";
import type { KnownColumn } from "../form/FormContext";
import { fitsCell, readCell, writeCell } from "./cells";
import { type About, withCell } from "./columnsOf";
import styles from "./Rehearsal.module.css";

const PAGE = 50;

const ABOUT_TYPES: Record<About, string> = {
  _key: "string",
  _timestamp: "timestamp",
  _batch: "int",
  _deleted: "boolean",
};

interface Props {
  rows: Rows;
  columns: KnownColumn[];
  about: readonly About[];
  title: string;
  /** A row to go to, once for each time it is asked for. */
  wanted?: { row: number } | null;
  onChange: (rows: Rows) => void;
}

/** Rows to be edited in their cells, a page of them at a time. */
export function RowsTable({ rows, columns, about, title, wanted = null, onChange }: Props) {
  const { t } = useTranslation();
  const [asked, setPage] = useState(1);
  const body = useRef<HTMLTableSectionElement>(null);
  const gone = useRef<typeof wanted>(null);
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const page = Math.min(asked, pages);
  const first = (page - 1) * PAGE;
  const all = [...columns, ...about.map((name) => ({ name, type: ABOUT_TYPES[name] }))];

  useEffect(() => {
    if (wanted === null || gone.current === wanted) return;
    setPage(Math.floor(wanted.row / PAGE) + 1);
    const row = body.current?.rows[wanted.row - first];
    if (!row) return;
    gone.current = wanted;
    row.querySelector<HTMLElement>("[data-cell]")?.focus();
    row.scrollIntoView({ block: "nearest" });
  }, [wanted, first]);

  function set(index: number, name: string, value: unknown) {
    onChange(rows.map((row, i) => (i === index ? withCell(row, name, value) : row)));
  }

  function remove(index: number) {
    onChange(rows.filter((_, i) => i !== index));
    requestAnimationFrame(() => {
      const buttons = body.current?.querySelectorAll<HTMLElement>("[data-remove]");
      buttons?.[Math.min(index - first, buttons.length - 1)]?.focus();
    });
  }

  function goTo(index: number, name: string) {
    const cells = body.current?.querySelectorAll<HTMLElement>("[data-cell]") ?? [];
    for (const cell of cells) if (cell.dataset.cell === `${index} ${name}`) cell.focus();
  }

  return (
    <>
      <div className={styles.scroll}>
        <table className={styles.rows} aria-label={t("rehearsal.rowsOf", { source: title })}>
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">{t("rehearsal.number")}</span>
              </th>
              {all.map(({ name, type }) => (
                <th key={name} scope="col" title={type ?? undefined}>
                  {name} <span className={styles.type}>{type}</span>
                </th>
              ))}
              <th scope="col">
                <span className="visually-hidden">{t("rehearsal.rowActions")}</span>
              </th>
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.slice(first, first + PAGE).map((row, i) => {
              const index = first + i;
              const number = index + 1;
              return (
                <tr key={index} data-deleted={row._deleted === true}>
                  <td className={styles.number}>{number}</td>
                  {all.map(({ name, type }) => (
                    <td key={name}>
                      {name === "_deleted" ? (
                        <input
                          type="checkbox"
                          aria-label={t("rehearsal.cell", { name, number })}
                          checked={row._deleted === true}
                          onChange={(e) => set(index, name, e.currentTarget.checked || undefined)}
                        />
                      ) : (
                        <Cell
                          id={`${index} ${name}`}
                          label={t("rehearsal.cell", { name, number })}
                          value={row[name]}
                          type={type}
                          isNull={row[name] === null}
                          onValue={(value) => set(index, name, value)}
                          onEnter={() => goTo(index + 1, name)}
                        />
                      )}
                    </td>
                  ))}
                  <td className={styles.rowTools}>
                    <ActionIcon
                      size={24}
                      aria-label={t("rehearsal.duplicate", { number })}
                      onClick={() =>
                        onChange([...rows.slice(0, number), { ...row }, ...rows.slice(number)])
                      }
                    >
                      <IconCopy size={13} />
                    </ActionIcon>
                    <ActionIcon
                      size={24}
                      data-remove
                      aria-label={t("rehearsal.remove", { number })}
                      onClick={() => remove(index)}
                    >
                      <IconX size={13} />
                    </ActionIcon>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <Pagination
          size="xs"
          mt={6}
          total={pages}
          value={page}
          onChange={setPage}
          getControlProps={(control) => ({ "aria-label": t(`rehearsal.page.${control}`) })}
          aria-label={t("rehearsal.pages")}
        />
      )}
    </>
  );
}

interface CellProps {
  id: string;
  label: string;
  value: unknown;
  type: string | null;
  /** Whether the row says that there is nothing, instead of saying nothing. */
  isNull: boolean;
  onValue: (value: unknown) => void;
  onEnter: () => void;
}

/** One value as text; it is read when the cell is left, and Escape takes back what was typed. */
function Cell({ id, label, value, type, isNull, onValue, onEnter }: CellProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState<string | null>(null);
  const shown = writeCell(value, type);
  const fits = typed === null ? fitsCell(value, type) : readCell(typed, type).fits;

  function leave() {
    if (typed !== null && typed !== shown) onValue(readCell(typed, type).value);
    setTyped(null);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Escape") setTyped(null);
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    leave();
    onEnter();
  }

  return (
    <input
      className={styles.cell}
      data-cell={id}
      aria-label={label}
      aria-invalid={!fits}
      title={fits ? undefined : t("rehearsal.doesNotFit", { type })}
      value={typed ?? shown}
      placeholder={isNull ? "null" : " "}
      spellCheck={false}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={leave}
      onKeyDown={onKeyDown}
    />
  );
}
