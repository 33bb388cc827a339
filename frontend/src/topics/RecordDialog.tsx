import { Alert, Modal, Skeleton, Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { RecordOut } from "../api/client";
import { RecordHeaders } from "../records/RecordHeaders";
import { RecordText } from "../records/RecordText";
import styles from "../records/records.module.css";
import { count } from "../text/count";
import { type Place, useRecord } from "./useTopic";

interface Props {
  place: Place;
  record: RecordOut;
  onClose: () => void;
}

/** One record of a topic, whole. */
export function RecordDialog({ place, record, onClose }: Props) {
  const { t } = useTranslation();
  // What a list shows may be cut.
  const asked = useRecord(place, record);
  const found = record.cut ? asked.data : (asked.data ?? record);
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t("topics.one", { partition: record.partition, offset: record.offset })}
    >
      {asked.error && (
        <Alert color="red" role="alert">
          {asked.error.message}
        </Alert>
      )}
      {asked.data === null && <p className={styles.said}>{t("topics.gone")}</p>}
      {found === undefined && !asked.error && <Skeleton h={160} />}
      {found && (
        <Stack gap="sm">
          <p className={styles.said}>
            {found.at && new Date(found.at).toLocaleString("en-GB", { timeZoneName: "short" })} ·{" "}
            {t("topics.size", { size: count(found.size) })}
            {found.masked && ` · ${t("topics.masked")}`}
          </p>
          <RecordText label={t("record.key")} text={found.key} encoding={found.key_encoding} />
          <RecordText
            label={t("record.value")}
            text={found.value}
            encoding={found.value_encoding}
          />
          <RecordHeaders headers={found.headers} />
        </Stack>
      )}
    </Modal>
  );
}
