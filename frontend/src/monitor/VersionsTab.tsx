import { Button, Skeleton } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { listVersions } from "../api/client";
import type { Deployment } from "../api/types";
import { useMayOperate } from "../deploy/useMayOperate";
import header from "../shell/Header.module.css";
import { RelativeTime } from "../text/RelativeTime";
import styles from "./DeploymentPage.module.css";

const MOST = 200;
const COLUMNS = ["version", "comment", "by", "made", "actions"] as const;

interface Props {
  deployment: Deployment;
  onDeploy: (version: number) => void;
}

/** Every frozen graph of the pipeline, newest first; any of them can be deployed. */
export function VersionsTab({ deployment, onDeploy }: Props) {
  const { t } = useTranslation();
  const { pipeline, version: deployed } = deployment;
  const may = useMayOperate(pipeline);
  const versions = useQuery({
    // A version that has just been deployed may be a new one.
    queryKey: ["versions", pipeline.id, deployed],
    queryFn: () => listVersions({ path: { pipeline_id: pipeline.id }, query: { page_size: MOST } }),
    placeholderData: keepPreviousData,
  });
  if (versions.error && !versions.data) return <p role="alert">{versions.error.message}</p>;
  if (!versions.data) return <Skeleton h={80} />;
  return (
    <table className={styles.records}>
      <thead>
        <tr>
          {COLUMNS.map((name) => (
            <th key={name} scope="col">
              {name === "actions" ? (
                <span className="visually-hidden">{t("versions.actions")}</span>
              ) : (
                t(`versions.${name}`)
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {versions.data.items.map(({ number, comment, created_by, created_at }) => (
          <tr key={number} data-version={number}>
            <td>{number}</td>
            <td title={comment}>{comment || t("versions.noComment")}</td>
            <td>{created_by ?? t("versions.nobody")}</td>
            <td>
              <RelativeTime at={created_at} />
            </td>
            <td className={styles.actions}>
              {number === deployed && <span className={header.pill}>{t("versions.deployed")}</span>}
              {may && number !== deployed && (
                <Button size="compact-xs" variant="subtle" onClick={() => onDeploy(number)}>
                  {t("versions.deployOne", { version: number })}
                </Button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
