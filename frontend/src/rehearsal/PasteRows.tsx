import {
  Button,
  FileButton,
  Group,
  List,
  Modal,
  Select,
  Stack,
  Text,
  Textarea,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFileText, IconUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ClipboardEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { parsePastedRows } from "../api/client";
import type { Rows } from "../api/types";
import type { KnownColumn } from "../form/FormContext";
import { short } from "../text/count";
import { typedRows } from "./cells";
import { isTaken, MOST_BYTES } from "./jsonLines";
import { ResultRows } from "./ResultRows";
import { TakeOver } from "./TakeOver";

const FORMATS = ["auto", "json_lines", "json", "csv"] as const;
type Format = (typeof FORMATS)[number];
// A longer text is not shown in the field: laying it out would take seconds.
const MOST_SHOWN = 100_000;
const SHOWN_PROBLEMS = 5;
const SHOWN_ROWS = 5;

interface Props {
  title: string;
  columns: KnownColumn[];
  /** How many rows the source has already. */
  there: number;
  onRows: (rows: Rows, replace: boolean) => void;
  onClose: () => void;
}

/** A text to read rows from; `name` where it is not shown, as that of a file. */
interface Draft {
  number: number;
  text: string;
  name: string | null;
}

/** Rows from a text: JSON lines, a JSON list or CSV, pasted or from a file; shown before taken. */
export function PasteRows({ title, columns, there, onRows, onClose }: Props) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState<Draft>({ number: 0, text: "", name: null });
  const [format, setFormat] = useState<Format>("auto");
  const [refused, setRefused] = useState(false);
  const [settled] = useDebouncedValue(draft, 300);
  const parsed = useParsed(settled, format, columns);
  const found = settled === draft ? parsed.data : undefined;

  function take(text: string, name: string | null) {
    const small = isTaken(text);
    setRefused(!small);
    if (small) setDraft(({ number }) => ({ number: number + 1, text, name }));
  }

  async function read(file: File | null) {
    if (!file) return;
    if (file.size > MOST_BYTES) return setRefused(true);
    take(await file.text(), file.name);
  }

  function paste(event: ClipboardEvent) {
    const text = event.clipboardData.getData("text/plain");
    if (text.length <= MOST_SHOWN) return;
    event.preventDefault();
    take(text, t("rehearsal.pasted"));
  }

  return (
    <Modal opened onClose={onClose} title={t("rehearsal.pasteTitle", { source: title })} size="xl">
      <Stack gap="sm">
        {draft.name === null ? (
          <Textarea
            label={t("rehearsal.pasteLabel")}
            placeholder={'{"product": "x", "price": 3}'}
            autosize
            minRows={6}
            maxRows={14}
            data-autofocus
            classNames={{ input: "mono" }}
            value={draft.text}
            onPaste={paste}
            onChange={(event) => take(event.currentTarget.value, null)}
          />
        ) : (
          <Group gap="xs">
            <IconFileText size={16} aria-hidden />
            {draft.name} · {short(draft.text.length)}B
            <Button size="compact-xs" variant="subtle" onClick={() => take("", null)}>
              {t("rehearsal.another")}
            </Button>
          </Group>
        )}
        <Group gap="xs" align="end">
          <Select
            label={t("rehearsal.format")}
            w={150}
            allowDeselect={false}
            data={FORMATS.map((value) => ({ value, label: t(`rehearsal.formats.${value}`) }))}
            value={format}
            onChange={(value) => setFormat((value ?? "auto") as Format)}
          />
          <FileButton onChange={(file) => void read(file)} accept=".json,.jsonl,.ndjson,.csv,.txt">
            {(props) => (
              <Button
                {...props}
                variant="default"
                leftSection={<IconUpload size={14} aria-hidden />}
              >
                {t("rehearsal.upload")}
              </Button>
            )}
          </FileButton>
        </Group>
        <div aria-live="polite">
          {refused && <Wrong>{t("rehearsal.tooLarge")}</Wrong>}
          {parsed.error && <Wrong>{parsed.error.message}</Wrong>}
          {found && (
            <Text size="xs" c="dimmed">
              {t("rehearsal.found", {
                count: found.rows.length,
                format: t(`rehearsal.formats.${found.format}`),
              })}
            </Text>
          )}
          {found && found.problems.length > 0 && (
            <List size="xs" c="var(--hr-bad)" mt={4}>
              {found.problems.slice(0, SHOWN_PROBLEMS).map(({ line, message }) => (
                <List.Item key={`${line} ${message}`}>
                  {line ? `${t("rehearsal.line", { line })} ` : ""}
                  {message}
                </List.Item>
              ))}
              {found.problems.length > SHOWN_PROBLEMS && (
                <List.Item>
                  {t("rehearsal.moreProblems", { count: found.problems.length - SHOWN_PROBLEMS })}
                </List.Item>
              )}
            </List>
          )}
        </div>
        {found && found.rows.length > 0 && (
          <ResultRows
            rows={found.rows.slice(0, SHOWN_ROWS)}
            all={found.rows.length}
            label={t("rehearsal.preview")}
          />
        )}
        <TakeOver rows={found?.rows ?? []} there={there} onRows={onRows} onClose={onClose} />
      </Stack>
    </Modal>
  );
}

/** What the text says; the number of a draft names it, as its text may be millions of letters. */
function useParsed({ number, text }: Draft, format: Format, columns: KnownColumn[]) {
  return useQuery({
    queryKey: ["rows", "parse", number, format],
    queryFn: async ({ signal }) => {
      const found = await parsePastedRows({ body: { text, format }, signal });
      const types = new Map(columns.map(({ name, type }) => [name, type]));
      types.set("_batch", "int").set("_deleted", "boolean");
      return found.format === "csv" ? { ...found, rows: typedRows(found.rows, types) } : found;
    },
    enabled: text.trim() !== "",
    gcTime: 0,
    retry: false,
  });
}

function Wrong({ children }: { children: string }) {
  return (
    <Text size="xs" c="var(--hr-bad)" role="alert">
      {children}
    </Text>
  );
}
