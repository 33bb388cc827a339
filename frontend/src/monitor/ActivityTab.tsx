import { Button, Skeleton, Text } from "@mantine/core";
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconMailForward,
  IconPlayerPlay,
  IconPlayerSkipBack,
  IconPlayerStop,
  IconPointFilled,
  IconRefresh,
  IconRocket,
} from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { listActivity } from "../api/client";
import type { Deployment } from "../api/types";
import { RelativeTime } from "../text/RelativeTime";
import styles from "./DeploymentPage.module.css";

const PAGE_SIZE = 50;

const ICONS: Record<string, typeof IconRocket> = {
  deploy: IconRocket,
  start: IconPlayerPlay,
  run: IconPlayerPlay,
  stop: IconPlayerStop,
  restart: IconRefresh,
  rewind: IconPlayerSkipBack,
  roll_back: IconArrowBackUp,
  replay: IconMailForward,
  crash: IconAlertTriangle,
  fail: IconAlertTriangle,
  kill: IconAlertTriangle,
  stall: IconAlertTriangle,
};

/** What was done to a deployment, and what it did by itself, newest first. */
export function ActivityTab({ deployment }: { deployment: Deployment }) {
  const { t } = useTranslation();
  const { id, state, message } = deployment;
  const activity = useInfiniteQuery({
    // Whatever is recorded changes its state, too.
    queryKey: ["activity", id, state, message],
    queryFn: ({ pageParam }) =>
      listActivity({
        path: { deployment_id: id },
        query: { page: pageParam, page_size: PAGE_SIZE },
      }),
    initialPageParam: 1,
    getNextPageParam: ({ count }, pages) =>
      pages.length * PAGE_SIZE < count ? pages.length + 1 : undefined,
    placeholderData: keepPreviousData,
  });
  if (activity.error && !activity.data) return <p role="alert">{activity.error.message}</p>;
  if (!activity.data) return <Skeleton h={80} />;
  const items = activity.data.pages.flatMap((page) => page.items);
  if (items.length === 0) return <Text c="dimmed">{t("activity.none")}</Text>;
  return (
    <>
      <ol className={styles.timeline} aria-label={t("monitor.activity")}>
        {items.map(({ at, user, verb, message, via, address }) => {
          const Icon = ICONS[verb] ?? IconPointFilled;
          return (
            <li
              key={`${at} ${verb} ${message}`}
              data-verb={verb}
              data-by={user ? "user" : "itself"}
            >
              <Icon size={15} aria-hidden />
              <span>{message}</span>
              <span className={styles.when}>
                <span title={address ? t("activity.from", { address }) : undefined}>
                  {user ?? t("activity.itself")}
                  {user && via && via !== "session" && ` · ${t(`activity.${via}`)}`}
                </span>{" "}
                · <RelativeTime at={at} />
              </span>
            </li>
          );
        })}
      </ol>
      {activity.hasNextPage && (
        <Button
          mt="xs"
          size="compact-xs"
          variant="default"
          loading={activity.isFetchingNextPage}
          onClick={() => void activity.fetchNextPage()}
        >
          {t("activity.more")}
        </Button>
      )}
    </>
  );
}
