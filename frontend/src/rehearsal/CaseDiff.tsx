import { Button } from "@mantine/core";
import { IconCheck, IconEqual, IconMinus, IconPencil, IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { type DiffCell, type DiffLine, diffTable, type Op, type RowDiff } from "./diff";
import styles from "./Rehearsal.module.css";
import { Value } from "./ResultRows";
import { Scrolled } from "./Scrolled";

const ICONS: Record<Op, typeof IconPlus> = {
  same: IconEqual,
  missing: IconMinus,
  unexpected: IconPlus,
  changed: IconPencil,
};
const MOST_LINES = 100;

interface Props {
  step: string;
  title: string;
  passed: boolean;
  rows: RowDiff[];
}

/** What came out of a step beside what was expected of it, row by row. */
export function CaseDiff({ step, title, passed, rows }: Props) {
  const { t } = useTranslation();
  const [whole, setWhole] = useState(false);
  const { names, differing, same } = diffTable(rows);
  const lines = whole ? [...differing, ...same] : differing;
  const Icon = passed ? IconCheck : IconX;
  return (
    <section className={styles.diff} aria-label={title}>
      <h4>
        <Icon size={13} aria-label={t(passed ? "rehearsal.passed" : "rehearsal.failed")} />
        {title} <span className={styles.id}>{step}</span>
      </h4>
      {lines.length > 0 && (
        <Scrolled label={t("rehearsal.diffOf", { title })}>
          <table className={styles.rows} data-testid="diff">
            <thead>
              <tr>
                <th scope="col">{t("rehearsal.comparedAs")}</th>
                {names.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {lines.slice(0, MOST_LINES).map((line, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
                <Line key={i} line={line} />
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
      {lines.length > MOST_LINES && (
        <p className={styles.hint}>
          {t("rehearsal.firstOf", { shown: MOST_LINES, all: lines.length })}
        </p>
      )}
      {same.length > 0 && (
        <Button variant="subtle" size="compact-xs" mt={2} onClick={() => setWhole(!whole)}>
          {t(whole ? "rehearsal.hideSame" : "rehearsal.showSame", { count: same.length })}
        </Button>
      )}
    </section>
  );
}

function Line({ line }: { line: DiffLine }) {
  const { t } = useTranslation();
  const Icon = ICONS[line.op];
  return (
    <tr data-op={line.op}>
      <td>
        <span className={styles.op}>
          <Icon size={12} aria-hidden />
          {t(`rehearsal.op.${line.op}`)}
          {line.deleted && ` · ${t("rehearsal.deleted")}`}
        </span>
      </td>
      {line.cells.map((cell) => (
        <td key={cell.name} data-differs={cell.differs}>
          <Cell cell={cell} />
        </td>
      ))}
    </tr>
  );
}

function Cell({ cell }: { cell: DiffCell }) {
  if (cell.differs)
    return (
      <>
        <del>
          <Value value={cell.was} />
        </del>{" "}
        →{" "}
        <ins>
          <Value value={cell.value} />
        </ins>
      </>
    );
  return cell.there ? <Value value={cell.value} /> : null;
}
