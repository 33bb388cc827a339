import { memo } from "react";
import { useTranslation } from "react-i18next";
import type { RecordOut } from "../api/client";
import { Preview } from "../records/Preview";
import styles from "../records/records.module.css";
import { RelativeTime } from "../text/RelativeTime";

const COLUMNS = ["time", "partition", "offset", "key", "value"] as const;

interface Props {
  /** Those that came while one was looking. */
  fresh: RecordOut[];
  records: RecordOut[];
  onOpen: (record: RecordOut) => void;
}

/** Records, newest first; a click on the value opens one. */
export function RecordList({ fresh, records, onOpen }: Props) {
  const { t } = useTranslation();
  return (
    <div className={styles.scrolled}>
      <table className={styles.list} aria-label={t("topics.records")}>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className={name === "offset" ? styles.number : undefined}>
                {t(`topics.column.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {fresh.map((record) => (
            <Line key={nameOf(record)} record={record} isNew onOpen={onOpen} />
          ))}
          {records.map((record) => (
            <Line key={nameOf(record)} record={record} isNew={false} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LineProps {
  record: RecordOut;
  isNew: boolean;
  onOpen: (record: RecordOut) => void;
}

const Line = memo(function Line({ record, isNew, onOpen }: LineProps) {
  const { t } = useTranslation();
  return (
    <tr data-record={nameOf(record)} data-new={isNew}>
      <td>{record.at && <RelativeTime at={record.at} />}</td>
      <td>{record.partition}</td>
      <td className={styles.number}>{record.offset}</td>
      <td>
        <Preview text={record.key} encoding={record.key_encoding} />
      </td>
      <td>
        <button type="button" className={styles.open} onClick={() => onOpen(record)}>
          <Preview text={record.value} encoding={record.value_encoding} />
          <span className="visually-hidden">{t("topics.openOne", { name: nameOf(record) })}</span>
        </button>
      </td>
    </tr>
  );
});

/** What names a record within its topic: `0-17`. */
export function nameOf({ partition, offset }: RecordOut): string {
  return `${partition}-${offset}`;
}
