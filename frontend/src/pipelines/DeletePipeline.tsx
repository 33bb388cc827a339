import { ActionIcon, Alert, Button, Group, Modal, Text, Tooltip } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deletePipeline, type PipelineListed } from "../api/client";
import { say } from "../shell/say";

/** Delete a pipeline, after asking. */
export function DeletePipeline({ pipeline }: { pipeline: PipelineListed }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => deletePipeline({ path: { pipeline_id: pipeline.id } }),
    onSuccess: () => {
      setAsking(false);
      say(t("pipelines.deleted", { name: pipeline.name }));
      void queries.invalidateQueries({ queryKey: ["pipelines"] });
    },
  });
  return (
    <>
      <Tooltip label={t("action.delete")}>
        <ActionIcon
          aria-label={t("pipelines.deleteOne", { name: pipeline.name })}
          onClick={() => setAsking(true)}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Tooltip>
      <Modal
        opened={asking}
        onClose={() => setAsking(false)}
        title={t("pipelines.deleteTitle", { name: pipeline.name })}
      >
        <Text size="sm">{t("pipelines.deleteExplain")}</Text>
        {remove.error && (
          <Alert color="red" mt="sm" role="alert">
            {remove.error.message}
          </Alert>
        )}
        <Group mt="md" justify="flex-end">
          <Button variant="default" onClick={() => setAsking(false)}>
            {t("action.cancel")}
          </Button>
          <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            {t("pipelines.deleteNow")}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
