import { ActionIcon, Alert, Button, Group, Modal, Text, Tooltip } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { type ConnectionOut, deleteConnection } from "../api/client";
import { say } from "../shell/say";

/** Delete a connection, after asking. */
export function DeleteConnection({ connection }: { connection: ConnectionOut }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { name } = connection;
  const remove = useMutation({
    mutationFn: () => deleteConnection({ path: { connection_id: connection.id } }),
    onSuccess: () => {
      setAsking(false);
      say(t("connections.deleted", { name }));
      void queries.invalidateQueries({ queryKey: ["connections"], exact: true });
    },
  });
  return (
    <>
      <Tooltip label={t("action.delete")}>
        <ActionIcon
          aria-label={t("connections.deleteOne", { name })}
          onClick={() => setAsking(true)}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Tooltip>
      <Modal
        opened={asking}
        onClose={() => setAsking(false)}
        title={t("connections.deleteTitle", { name })}
      >
        <Text size="sm">{t("connections.deleteExplain")}</Text>
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
            {t("connections.deleteNow")}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
