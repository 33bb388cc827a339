import { Button, Group, Modal, MultiSelect, Stack, Text, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { useGraph } from "../canvas/graphStore";
import { type Case, useChangeCase } from "./useCases";
import { useTitleOf } from "./useTitleOf";

const RowsText = lazy(() => import("./RowsText"));

interface Props {
  pipeline: string;
  item: Case;
  onClose: () => void;
}

/** A test case's name, and the rows that must come out of its steps, as JSON lines. */
export function EditCase({ pipeline, item, onClose }: Props) {
  const { t } = useTranslation();
  const { change } = useChangeCase(pipeline);
  const drawn = useGraph((graph) => graph.steps);
  const [name, setName] = useState(item.name);
  const [expected, setExpected] = useState(item.expected);
  const [unsound, setUnsound] = useState<string[]>([]);
  const steps = Object.keys(expected);
  const all = [...new Set([...steps, ...drawn.map(({ id }) => id)])];
  const titleOf = useTitleOf();

  function compare(chosen: string[]) {
    setExpected(Object.fromEntries(chosen.map((id) => [id, expected[id] ?? []])));
    setUnsound(unsound.filter((id) => chosen.includes(id)));
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={t("rehearsal.edit", { name: item.name })}
      size="xl"
      closeOnClickOutside={false}
    >
      <Stack gap="sm">
        <TextInput
          label={t("rehearsal.caseName")}
          value={name}
          maxLength={200}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <MultiSelect
          label={t("rehearsal.compare")}
          data={all.map((id) => ({ value: id, label: `${titleOf(id)} (${id})` }))}
          value={steps}
          onChange={compare}
        />
        {steps.map((id) => (
          <div key={id}>
            <Text size="xs" fw={500}>
              {t("rehearsal.expectedOf", { step: titleOf(id) })}
            </Text>
            <Suspense fallback={<div style={{ height: 60 }} />}>
              <RowsText
                rows={expected[id] ?? []}
                label={t("rehearsal.expectedOf", { step: titleOf(id) })}
                onChange={(rows) => setExpected((before) => ({ ...before, [id]: rows }))}
                onSound={(sound) =>
                  setUnsound((before) => [
                    ...before.filter((s) => s !== id),
                    ...(sound ? [] : [id]),
                  ])
                }
              />
            </Suspense>
          </div>
        ))}
        <Text size="xs" c="dimmed">
          {t("rehearsal.expectedHelp")}
        </Text>
        {change.error && (
          <Text size="xs" c="var(--hr-bad)" role="alert">
            {change.error.message}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button
            loading={change.isPending}
            disabled={name.trim() === "" || steps.length === 0 || unsound.length > 0}
            onClick={() =>
              change.mutate({ ...item, name: name.trim(), expected }, { onSuccess: onClose })
            }
          >
            {t("rehearsal.saveNow")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
