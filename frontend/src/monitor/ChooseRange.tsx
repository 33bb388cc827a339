import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import styles from "./OverviewTab.module.css";
import { isLive, NAMED, type Named, type Range } from "./range";

const OWN = "own";
const MINUTE = 60;

interface Props {
  range: Range;
  /** Where the shown range begins and ends, in seconds since 1970. */
  from: number;
  to: number;
  onRange: (range: Range) => void;
}

/** How far back to look: up to now, or between two moments of one's own. */
export function ChooseRange({ range, from, to, onRange }: Props) {
  const { t } = useTranslation();
  return (
    <>
      <SegmentedControl
        aria-label={t("range.name")}
        data={[...Object.keys(NAMED), OWN].map((value) => ({
          value,
          label: t(`range.${value as Named | typeof OWN}`),
        }))}
        value={isLive(range) ? range : OWN}
        onChange={(value) => onRange(value === OWN ? { from, to } : (value as Named))}
      />
      {!isLive(range) && (
        <OwnRange key={`${range.from}/${range.to}`} {...range} onRange={onRange} />
      )}
    </>
  );
}

interface OwnProps {
  from: number;
  to: number;
  onRange: (range: Range) => void;
}

function OwnRange({ from, to, onRange }: OwnProps) {
  const { t } = useTranslation();
  const [begin, setBegin] = useState(localTime(from));
  const [end, setEnd] = useState(localTime(to));
  const wanted = { from: Date.parse(begin) / 1000, to: Date.parse(end) / 1000 };
  const isRange = wanted.from < wanted.to;

  function show(event: FormEvent) {
    event.preventDefault();
    if (isRange) onRange(wanted);
  }

  return (
    <form className={styles.own} onSubmit={show}>
      <TextInput
        type="datetime-local"
        step={MINUTE}
        aria-label={t("range.from")}
        value={begin}
        onChange={(event) => setBegin(event.currentTarget.value)}
      />
      <span>{t("range.until")}</span>
      <TextInput
        type="datetime-local"
        step={MINUTE}
        aria-label={t("range.to")}
        error={!isRange && t("range.wrong")}
        value={end}
        onChange={(event) => setEnd(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={!isRange}>
        {t("range.show")}
      </Button>
    </form>
  );
}

/** A moment as an input for local times holds it. */
function localTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
