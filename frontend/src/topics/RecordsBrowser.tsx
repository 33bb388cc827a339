import { Alert, Button, Select, Skeleton, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconRefresh, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { RecordOut } from "../api/client";
import styles from "../records/records.module.css";
import { isoOf } from "../rehearsal/TakeRows";
import { count } from "../text/count";
import { RecordDialog } from "./RecordDialog";
import { nameOf, RecordList } from "./RecordList";
import { MOST_KEPT, useTail } from "./useTail";
import { type Place, useRecords } from "./useTopic";

interface Props {
  place: Place;
  partitions: number[];
}

/** The newest records of a topic, searched by key, text and time, or live as they come. */
export function RecordsBrowser({ place, partitions }: Props) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState({ key: "", search: "" });
  const [{ key, search }] = useDebouncedValue(typed, 300);
  const [partition, setPartition] = useState<number | null>(null);
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  const [live, setLive] = useState(false);
  const [opened, setOpened] = useState<RecordOut | null>(null);
  const filter = {
    key,
    search: search.trim(),
    partition,
    since: isoOf(since),
    until: isoOf(until),
  };
  const records = useRecords(place, filter);
  const first = records.data?.pages[0];
  const tail = useTail(place, filter, live && first ? first.after : null);
  const items = records.data?.pages.flatMap((page) => page.items) ?? [];
  // Both may know a record for a moment, when the page was asked for anew.
  const known = new Set(items.map(nameOf));
  const fresh = live ? tail.rows.filter((row) => !known.has(nameOf(row))) : [];
  const scanned = records.data?.pages.reduce((sum, page) => sum + page.scanned, 0) ?? 0;
  const narrowed = Boolean(filter.key || filter.search);
  return (
    <>
      <div className={styles.tools}>
        <TextInput
          label={t("topics.byKey")}
          w={140}
          value={typed.key}
          onChange={(event) => {
            const next = event.currentTarget.value;
            setTyped((now) => ({ ...now, key: next }));
          }}
        />
        <TextInput
          type="search"
          label={t("topics.byText")}
          w={160}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={typed.search}
          onChange={(event) => {
            const next = event.currentTarget.value;
            setTyped((now) => ({ ...now, search: next }));
          }}
        />
        <Select
          label={t("topics.column.partition")}
          w={84}
          clearable
          placeholder={t("topics.all")}
          data={partitions.map(String)}
          value={partition === null ? null : String(partition)}
          onChange={(next) => setPartition(next === null ? null : Number(next))}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label={t("topics.since")}
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label={t("topics.until")}
          value={until}
          disabled={live}
          onChange={(event) => setUntil(event.currentTarget.value)}
        />
        <span className={styles.grow} />
        <Switch
          label={t("topics.live")}
          checked={live}
          onChange={(event) => {
            setLive(event.currentTarget.checked);
            if (event.currentTarget.checked) {
              setUntil("");
              void records.refetch();
            }
          }}
        />
        <Button
          variant="default"
          leftSection={<IconRefresh size={14} aria-hidden />}
          loading={records.isRefetching}
          onClick={() => void records.refetch()}
        >
          {t("topics.refresh")}
        </Button>
      </div>
      <p className={styles.said} role="status" data-testid="records-said">
        {first && narrowed && t("topics.looked", { n: count(scanned), found: count(items.length) })}{" "}
        {live && t("topics.came", { count: fresh.length + tail.passedOver })}{" "}
        {tail.passedOver > 0 && t("topics.passedOver", { count: tail.passedOver })}{" "}
        {fresh.length === MOST_KEPT && t("topics.mostKept", { count: MOST_KEPT })}
      </p>
      {(records.error || tail.error) && (
        <Alert color="red" role="alert" my="sm">
          {records.error?.message ?? tail.error}
        </Alert>
      )}
      {records.isPending && <Skeleton h={120} />}
      {items.length + fresh.length > 0 && (
        <RecordList fresh={fresh} records={items} onOpen={setOpened} />
      )}
      {first && items.length + fresh.length === 0 && (
        <p className={styles.said}>{t(narrowed ? "topics.noMatch" : "topics.noRecords")}</p>
      )}
      {records.hasNextPage && (
        <Button
          mt="xs"
          variant="default"
          loading={records.isFetchingNextPage}
          onClick={() => void records.fetchNextPage()}
        >
          {t(narrowed ? "topics.lookOn" : "letters.older")}
        </Button>
      )}
      {opened && <RecordDialog place={place} record={opened} onClose={() => setOpened(null)} />}
    </>
  );
}
