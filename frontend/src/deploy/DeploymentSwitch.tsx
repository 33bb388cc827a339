import { ActionIcon, Tooltip } from "@mantine/core";
import { IconPlayerPlayFilled, IconPlayerStopFilled } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { startDeployment, stopDeployment } from "../api/client";
import type { DeploymentState } from "../api/types";
import { sayError } from "../shell/say";

interface Props {
  id: string;
  name: string;
  desired: "running" | "stopped";
  state: DeploymentState | undefined;
}

/** Stop what should run, start what should not. */
export function DeploymentSwitch({ id, name, desired, state }: Props) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const stops = desired === "running" && state !== "failed";
  const toggle = useMutation({
    mutationFn: () => (stops ? stopDeployment : startDeployment)({ path: { deployment_id: id } }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["pipelines"] }),
    onError: sayError,
  });
  return (
    <Tooltip label={t(stops ? "deploy.stop" : "deploy.startAgain")}>
      <ActionIcon
        loading={toggle.isPending}
        aria-label={t(stops ? "deploy.stopOne" : "deploy.startOne", { name })}
        onClick={() => toggle.mutate()}
      >
        {stops ? <IconPlayerStopFilled size={15} /> : <IconPlayerPlayFilled size={15} />}
      </ActionIcon>
    </Tooltip>
  );
}
