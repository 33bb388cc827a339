import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { useNavigate } from "react-router";
import { getVersion } from "../api/client";
import type { Graph } from "../api/graph";
import { readGraph } from "../canvas/editGraph";
import { useCatalogue } from "../canvas/useCatalogue";
import { useCaseRuns } from "../rehearsal/useCases";
import { sayError } from "../shell/say";
import { DeployDialog } from "./DeployDialog";

interface Props {
  pipeline: string;
  version: number;
  environment: string;
  onClose: () => void;
}

/** The dialog that deploys a version there is, with the graph that was frozen then. */
export function DeployVersion(props: Props) {
  const { pipeline, version, onClose } = props;
  const found = useQuery({
    queryKey: ["version", pipeline, version],
    queryFn: async () =>
      readGraph((await getVersion({ path: { pipeline_id: pipeline, number: version } })).graph),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { error } = found;
  useEffect(() => {
    if (!error) return;
    sayError(error);
    onClose();
  }, [error, onClose]);
  if (!found.data) return null;
  return <Found {...props} graph={found.data} />;
}

function Found({ pipeline, version, environment, graph, onClose }: Props & { graph: Graph }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const catalogue = useCatalogue();
  // A version is frozen: there is nothing to save before its test cases run.
  const saved = useCallback(async () => true, []);
  const runs = useCaseRuns(pipeline, graph, saved);
  const titleOf = (id: string) => {
    const step = graph.steps.find((one) => one.id === id);
    return step?.label || catalogue?.get(step?.type ?? "")?.title || id;
  };
  return (
    <DeployDialog
      pipeline={pipeline}
      graph={graph}
      version={version}
      environment={environment}
      titleOf={titleOf}
      runs={runs}
      save={saved}
      onDeployed={(id) => {
        void queries.invalidateQueries({ queryKey: ["pipelines"] });
        onClose();
        navigate(`/deployments/${id}?deployed`);
      }}
      onProblem={() => navigate(`/pipelines/${pipeline}`)}
      onClose={onClose}
    />
  );
}
