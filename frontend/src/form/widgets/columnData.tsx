import { Group, Text } from "@mantine/core";
import type { KnownColumn } from "../FormContext";

/** Columns to pick from: those of the rows themselves first, the ones with `_` last. */
export function sorted(columns: KnownColumn[]): KnownColumn[] {
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
