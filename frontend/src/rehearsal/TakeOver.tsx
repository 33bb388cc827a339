import { Button, Group } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Rows } from "../api/types";

interface Props {
  rows: Rows;
  /** How many rows the source has already. */
  there: number;
  onRows: (rows: Rows, replace: boolean) => void;
  onClose: () => void;
}

/** Take the rows of a dialog: added to those there are, or in their place. */
export function TakeOver({ rows, there, onRows, onClose }: Props) {
  const { t } = useTranslation();
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose}>
        {t("action.cancel")}
      </Button>
      {there > 0 && (
        <Button variant="default" disabled={rows.length === 0} onClick={() => onRows(rows, true)}>
          {t("rehearsal.replace", { count: there })}
        </Button>
      )}
      <Button disabled={rows.length === 0} onClick={() => onRows(rows, false)}>
        {t("rehearsal.add", { count: rows.length })}
      </Button>
    </Group>
  );
}
