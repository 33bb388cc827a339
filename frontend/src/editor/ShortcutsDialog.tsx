import { Kbd, Modal, Table } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { type Action, readKeys } from "./useActions";

interface Props {
  opened: boolean;
  onClose: () => void;
  actions: Action[];
}

export function ShortcutsDialog({ opened, onClose, actions }: Props) {
  const { t } = useTranslation();
  const bound = actions.filter((action) => action.keys);
  const hands = ["walk", "move", "open", "doubleClick", "dropEdge"] as const;
  return (
    <Modal opened={opened} onClose={onClose} title={t("shortcuts.title")} size="md">
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {bound.map(({ id, label, keys = "" }) => (
            <Table.Tr key={id}>
              <Table.Td>{label}</Table.Td>
              <Table.Td ta="right">
                <Kbd>{readKeys(keys)}</Kbd>
              </Table.Td>
            </Table.Tr>
          ))}
          {hands.map((hand) => (
            <Table.Tr key={hand}>
              <Table.Td>{t(`shortcuts.${hand}`)}</Table.Td>
              <Table.Td ta="right">
                <Kbd>{t(`shortcuts.${hand}Keys`)}</Kbd>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
