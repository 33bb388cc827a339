import { useTranslation } from "react-i18next";
import type { Deployment, Rows } from "../api/types";
import type { Catalogue } from "../canvas/ports";
import styles from "./DeploymentPage.module.css";

const SHOWS_ROWS = new Set(["console_sink", "peek"]);

/** The newest rows of each step that shows them. */
export function RowsTab({
  deployment,
  catalogue,
}: {
  deployment: Deployment;
  catalogue: Catalogue;
}) {
  const { t } = useTranslation();
  const shown = deployment.graph.steps.filter(
    (step) => SHOWS_ROWS.has(step.type) || deployment.samples[step.id],
  );
  if (shown.length === 0)
    return <p style={{ margin: 0, color: "var(--hr-soft)" }}>{t("rows.noConsole")}</p>;
  return shown.map((step) => {
    const rows = deployment.samples[step.id] ?? [];
    return (
      <section key={step.id} style={{ marginBottom: 16 }} data-rows-of={step.id}>
        <h3 className={styles.heading}>
          {step.label || catalogue.get(step.type)?.title || step.id}
        </h3>
        {rows.length === 0 ? (
          <p style={{ margin: 0, color: "var(--hr-soft)" }}>{t("rows.none")}</p>
        ) : (
          <RowsTable rows={rows} />
        )}
      </section>
    );
  });
}

export function RowsTable({ rows }: { rows: Rows }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <table className={styles.rows}>
      <thead>
        <tr>
          {names.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
          <tr key={i}>
            {names.map((name) => (
              <td key={name} data-number={typeof row[name] === "number"}>
                <Value value={row[name]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className={styles.null}>null</span>;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
