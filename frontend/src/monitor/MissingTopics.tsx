import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { createTopic } from "../api/client";
import type { Deployment } from "../api/types";
import { useConnections } from "../connections/useConnections";
import { say, sayError } from "../shell/say";

/** The topics that a deployment waits for, each to be made with a click. */
export function MissingTopics({ topics }: { topics: Deployment["missing_topics"] }) {
  const { t } = useTranslation();
  const { data: connections } = useConnections();
  const make = useMutation({
    mutationFn: ({ connection, topic }: { connection: string; topic: string }) => {
      const found = connections?.items.find(({ name }) => name === connection);
      if (!found) throw new Error(t("monitor.noConnection", { connection }));
      return createTopic({ path: { connection_id: found.id }, body: { topic } });
    },
    onSuccess: ({ topic }) => say(t("connections.topicMade", { topic })),
    onError: sayError,
  });
  return topics.map(({ connection, topic }) => (
    <Button
      key={`${connection} ${topic}`}
      size="compact-sm"
      leftSection={<IconPlus size={13} aria-hidden />}
      loading={make.isPending && make.variables.topic === topic}
      onClick={() => make.mutate({ connection, topic })}
    >
      {t("monitor.makeTopic", { topic, connection })}
    </Button>
  ));
}
