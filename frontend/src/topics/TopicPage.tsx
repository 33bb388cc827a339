import { Alert, Button, Skeleton, Tabs } from "@mantine/core";
import { IconPencilPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams, useSearchParams } from "react-router";
import type { TopicOut } from "../api/client";
import { useConnections } from "../connections/useConnections";
import list from "../pipelines/PipelinesPage.module.css";
import header from "../shell/Header.module.css";
import { Page } from "../shell/Page";
import { useMe } from "../shell/useMe";
import { useTitle } from "../shell/useTitle";
import { count } from "../text/count";
import { Groups } from "./Groups";
import { keptFor } from "./keptFor";
import { Partitions } from "./Partitions";
import { RecordsBrowser } from "./RecordsBrowser";
import { UsedBy } from "./UsedBy";
import { type Place, useTopic } from "./useTopic";
import { WriteRecord } from "./WriteRecord";

const TABS = ["records", "partitions", "groups", "usedBy"] as const;

/** One topic: its records, live and searched, its partitions, and who reads and writes it. */
export function TopicPage() {
  const { id = "", topic = "" } = useParams();
  const place = { connection: id, topic };
  const { t } = useTranslation();
  const found = useTopic(place);
  const connection = useConnections().data?.items.find((one) => one.id === id);
  const may = useMe().data?.may.deployments ?? false;
  const [params, setParams] = useSearchParams();
  const [writing, setWriting] = useState(false);
  const asked = params.get("tab");
  const tab = TABS.find((name) => name === asked) ?? TABS[0];
  useTitle(topic);
  return (
    <Page>
      <nav aria-label={t("topics.way")}>
        <Link to="/connections" className={header.crumb}>
          {t("nav.connections")} / {connection?.name}
        </Link>
      </nav>
      <div className={list.bar}>
        <h1>{topic}</h1>
        {may && found.data && !found.data.internal && (
          <Button
            leftSection={<IconPencilPlus size={14} aria-hidden />}
            onClick={() => setWriting(true)}
          >
            {t("topics.write")}
          </Button>
        )}
      </div>
      {found.error && (
        <Alert color="red" role="alert" mb="sm">
          {found.error.message}
        </Alert>
      )}
      {!found.data && !found.error && <Skeleton h={160} radius="md" />}
      {found.data && (
        <>
          <Summary topic={found.data} />
          <Tabs
            value={tab}
            onChange={(name) => setParams({ tab: name ?? TABS[0] }, { replace: true })}
            keepMounted={false}
          >
            <Tabs.List mb="sm">
              {TABS.map((name) => (
                <Tabs.Tab key={name} value={name}>
                  {t(`topics.${name}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="records">
              <RecordsBrowser
                key={topic}
                place={place}
                partitions={found.data.partitions.map(({ partition }) => partition)}
              />
            </Tabs.Panel>
            <Tabs.Panel value="partitions">
              <Partitions partitions={found.data.partitions} />
            </Tabs.Panel>
            <Tabs.Panel value="groups">
              <Groups place={place} />
            </Tabs.Panel>
            <Tabs.Panel value="usedBy">
              <UsedBy uses={found.data.used_by} />
            </Tabs.Panel>
          </Tabs>
          {writing && (
            <Writing place={place} topic={found.data} onClose={() => setWriting(false)} />
          )}
        </>
      )}
    </Page>
  );
}

function Writing({
  place,
  topic,
  onClose,
}: {
  place: Place;
  topic: TopicOut;
  onClose: () => void;
}) {
  const partitions = topic.partitions.map(({ partition }) => partition);
  return <WriteRecord place={place} partitions={partitions} onClose={onClose} />;
}

function Summary({ topic }: { topic: TopicOut }) {
  const { t } = useTranslation();
  const { partitions, records, settings } = topic;
  const said = [
    t("topics.partitionCount", { count: partitions.length }),
    t("topics.recordCount", { count: records, n: count(records) }),
    ...(settings ? [keptWords(settings)] : []),
    ...(topic.internal ? [t("topics.internal")] : []),
  ];
  function keptWords({ cleanup_policy, retention_ms }: NonNullable<TopicOut["settings"]>) {
    if (cleanup_policy === "compact") return t("topics.compacted");
    const kept = keptFor(retention_ms ?? -1);
    const time = kept
      ? t(`topics.kept.${kept.unit}`, { count: kept.count })
      : t("topics.keptForEver");
    return cleanup_policy.includes("compact") ? `${t("topics.compacted")}, ${time}` : time;
  }
  return (
    <p className={list.small} data-testid="topic-summary">
      {said.join(" · ")}
    </p>
  );
}
