import { Button, Group, Modal, MultiSelect, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { createTestCase, type RehearsalOut } from "../api/client";
import { useCanvas } from "../canvas/CanvasContext";
import { useGraph } from "../canvas/graphStore";
import { say } from "../shell/say";
import { asExpected, sinksAmong, wholeSteps } from "./expected";
import { useRehearsal } from "./rehearsalStore";
import { casesKey } from "./useCases";
import { givenRows } from "./useTest";
import { useTitleOf } from "./useTitleOf";

interface Props {
  pipeline: string;
  result: RehearsalOut;
  onClose: () => void;
}

/** Keep the rows and what came out of some steps, to be compared with after each change. */
export function SaveCase({ pipeline, result, onClose }: Props) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const queries = useQueryClient();
  const graph = useGraph((g) => g);
  const rows = useRehearsal((s) => s.rows);
  const whole = wholeSteps(result);
  const [name, setName] = useState("");
  const [steps, setSteps] = useState(() => sinksAmong(whole, graph, catalogue));
  const cut = Object.keys(result.steps).length - whole.length;

  const make = useMutation({
    mutationFn: () => {
      const expected = Object.fromEntries(
        steps.map((id) => [id, asExpected(result.steps[id]?.rows ?? [])]),
      );
      const body = { name: name.trim(), rows: givenRows(graph, catalogue, rows), expected };
      return createTestCase({ path: { pipeline_id: pipeline }, body });
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: casesKey(pipeline) });
      say(t("rehearsal.saved", { name: made.name }));
      onClose();
    },
  });
  const titleOf = useTitleOf();

  return (
    <Modal opened onClose={onClose} title={t("rehearsal.saveCase")}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={t("rehearsal.caseName")}
            placeholder={t("rehearsal.caseNameExample")}
            value={name}
            maxLength={200}
            data-autofocus
            error={make.error?.message}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <MultiSelect
            label={t("rehearsal.compare")}
            description={t("rehearsal.compareHelp")}
            data={whole.map((id) => ({
              value: id,
              label: `${titleOf(id)} (${id}) · ${t("rehearsal.rows", {
                count: result.steps[id]?.count ?? 0,
                shown: result.steps[id]?.count ?? 0,
              })}`,
            }))}
            value={steps}
            onChange={setSteps}
          />
          {cut > 0 && (
            <Text size="xs" c="dimmed">
              {t("rehearsal.cutSteps", { count: cut })}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("action.cancel")}
            </Button>
            <Button
              type="submit"
              loading={make.isPending}
              disabled={name.trim() === "" || steps.length === 0}
            >
              {t("rehearsal.saveNow")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
