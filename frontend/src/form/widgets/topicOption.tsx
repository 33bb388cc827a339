import { Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";

/** A topic to pick, with how many partitions it has. */
export function topicOption(topics: Map<string, number>) {
  return ({ option }: { option: { value: string } }) => (
    <TopicOption topic={option.value} partitions={topics.get(option.value)} />
  );
}

function TopicOption({ topic, partitions }: { topic: string; partitions?: number }) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" justify="space-between" w="100%" wrap="nowrap">
      <span className="mono">{topic}</span>
      {partitions !== undefined && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
          {t("form.partitions", { count: partitions })}
        </Text>
      )}
    </Group>
  );
}
