import { Checkbox } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { LetterOut } from "../api/client";
import { Preview } from "../records/Preview";
import styles from "../records/records.module.css";
import header from "../shell/Header.module.css";
import { RelativeTime } from "../text/RelativeTime";

const COLUMNS = ["at", "step", "error", "origin", "key", "value", "replayed"] as const;

interface Props {
  letters: LetterOut[];
  titles: ReadonlyMap<string, string>;
  /** Which are ticked; null where there is nothing to tick them for. */
  chosen: ReadonlySet<string> | null;
  onChoose: (chosen: ReadonlySet<string>) => void;
  onOpen: (letter: string) => void;
}

/** Dead letters, one a line; a click on the value opens it. */
export function LetterList({ letters, titles, chosen, onChoose, onOpen }: Props) {
  const { t } = useTranslation();
  const all = letters.every(({ id }) => chosen?.has(id));
  const some = letters.some(({ id }) => chosen?.has(id));
  function choose(id: string, on: boolean) {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    onChoose(next);
  }
  return (
    <div className={styles.scrolled}>
      <table className={styles.list} aria-label={t("letters.name")}>
        <thead>
          <tr>
            {chosen && (
              <th scope="col">
                <Checkbox
                  aria-label={t("letters.chooseAll")}
                  checked={all}
                  indeterminate={some && !all}
                  onChange={(event) =>
                    onChoose(new Set(event.currentTarget.checked ? letters.map((l) => l.id) : []))
                  }
                />
              </th>
            )}
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {t(`letters.column.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {letters.map((letter) => (
            <tr key={letter.id} data-letter={letter.id}>
              {chosen && (
                <td>
                  <Checkbox
                    aria-label={t("letters.chooseOne", { origin: originOf(letter) })}
                    checked={chosen.has(letter.id)}
                    onChange={(event) => choose(letter.id, event.currentTarget.checked)}
                  />
                </td>
              )}
              <td>{letter.at && <RelativeTime at={letter.at} />}</td>
              <td>{titles.get(letter.step) ?? letter.step}</td>
              <td title={letter.error}>{letter.error}</td>
              <td className="mono">{originOf(letter)}</td>
              <td>
                <Preview text={letter.key} encoding={letter.key_encoding} />
              </td>
              <td>
                <button type="button" className={styles.open} onClick={() => onOpen(letter.id)}>
                  <Preview text={letter.value} encoding={letter.value_encoding} />
                  <span className="visually-hidden">
                    {t("letters.openOne", { origin: originOf(letter) })}
                  </span>
                </button>
              </td>
              <td>
                {letter.replays.length > 0 && (
                  <span className={header.pill}>
                    {t("letters.replayedTimes", { count: letter.replays.length })}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Where the record stood that could not be read: `orders-0-17`. */
export function originOf({ origin }: LetterOut): string {
  return origin ? `${origin.topic}-${origin.partition}-${origin.offset}` : "–";
}
