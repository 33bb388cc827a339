import { Group, Pill, Text, Tooltip } from "@mantine/core";
import { IconHelpCircle } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { FormContext, KnownColumn } from "../FormContext";

/**
 * The columns that a field can name: those that flow in; beside `left` and `right`, what flows in
 * there; where rows begin, those that the step itself declares.
 */
export function columnsFor(
  { columns, byPort, begins, config }: FormContext,
  field: string,
): KnownColumn[] {
  return sorted(byPort[field] ?? (begins ? declared(config) : columns));
}

/** The columns that a source says its records have. */
export function declared(config: Record<string, unknown>): KnownColumn[] {
  const listed = Array.isArray(config.columns) ? config.columns : [];
  return listed.flatMap((column: { name?: string; type?: string } | null) =>
    column?.name ? [{ name: column.name, type: column.type ?? "string" }] : [],
  );
}

/** A column by its name, as Spark looks it up. */
export function found(columns: KnownColumn[], name: string): KnownColumn | undefined {
  return columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
}

/** Columns to pick from: those of the rows themselves first, the ones with `_` last. */
function sorted(columns: KnownColumn[]): KnownColumn[] {
  return [...columns].sort(
    (a, b) => Number(a.name.startsWith("_")) - Number(b.name.startsWith("_")),
  );
}

/** An option with its column's type beside it. */
export function typed(columns: KnownColumn[]) {
  const types = new Map(columns.map((column) => [column.name, column.type]));
  return ({ option }: { option: { value: string } }) => (
    <Group gap="xs" justify="space-between" w="100%" wrap="nowrap">
      <span className="mono">{option.value}</span>
      <Text size="xs" c="dimmed" truncate>
        {types.get(option.value)}
      </Text>
    </Group>
  );
}

interface TypeProps {
  columns: KnownColumn[];
  name: string;
}

/** What stands beside a column's name in its field: its type, or that no such column flows in. */
export function TypeOf({ columns, name }: TypeProps) {
  const column = found(columns, name);
  if (column)
    return (
      <Text component="span" size="xs" c="dimmed" truncate data-testid="column-type">
        {column.type}
      </Text>
    );
  return name && columns.length > 0 ? <Unknown /> : null;
}

function Unknown() {
  const { t } = useTranslation();
  return (
    <Tooltip label={t("form.unknownColumn")}>
      <IconHelpCircle
        size={14}
        color="var(--hr-warn)"
        role="img"
        aria-label={t("form.unknownColumn")}
        data-testid="unknown-column"
      />
    </Tooltip>
  );
}

interface PillProps {
  columns: KnownColumn[];
  name: string;
  onRemove?: () => void;
  disabled?: boolean;
}

/** A chip with a column's name and type; one that does not flow in is marked, and kept. */
export function ColumnPill({ columns, name, onRemove, disabled }: PillProps) {
  return (
    <Pill withRemoveButton={!disabled} onRemove={onRemove}>
      <Group component="span" gap={5} wrap="nowrap" display="inline-flex">
        <span className="mono">{name}</span>
        <TypeOf columns={columns} name={name} />
      </Group>
    </Pill>
  );
}
