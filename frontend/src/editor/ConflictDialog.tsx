import { Button, Group, Modal, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";

interface Props {
  opened: boolean;
  message: string;
  onKeepMine: () => void;
  onTakeTheirs: () => void;
}

/** Two people changed one pipeline: nothing is lost until one of them has chosen. */
export function ConflictDialog({ opened, message, onKeepMine, onTakeTheirs }: Props) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={opened}
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={t("conflict.title")}
    >
      <Text size="sm">{message}</Text>
      <Text size="sm" mt="xs">
        {t("conflict.explain")}
      </Text>
      <Group mt="md" justify="flex-end">
        <Button variant="default" onClick={onTakeTheirs}>
          {t("conflict.takeTheirs")}
        </Button>
        <Button onClick={onKeepMine}>{t("conflict.keepMine")}</Button>
      </Group>
    </Modal>
  );
}
