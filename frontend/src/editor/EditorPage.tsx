import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { useStore } from "zustand";
import { getPipeline, stopDeployment, updatePipeline } from "../api/client";
import type { Graph } from "../api/graph";
import type { Pipeline, Problem } from "../api/types";
import { Canvas } from "../canvas/Canvas";
import { CanvasContext, useCanvas } from "../canvas/CanvasContext";
import { createCheckStore } from "../canvas/checkStore";
import { readGraph } from "../canvas/editGraph";
import { createGraphStore, GraphStoreContext, useGraph, useGraphStore } from "../canvas/graphStore";
import { createLiveStore } from "../canvas/liveStore";
import { createSelectionStore, select } from "../canvas/selectionStore";
import { useCatalogue } from "../canvas/useCatalogue";
import { useLiveCounts } from "../canvas/useLiveCounts";
import { DeployDialog } from "../deploy/DeployDialog";
import { useDeployment } from "../monitor/useDeployments";
import { keptRows } from "../rehearsal/keepRows";
import {
  createRehearsalStore,
  RehearsalContext,
  useRehearsalStore,
} from "../rehearsal/rehearsalStore";
import { useCaseRuns } from "../rehearsal/useCases";
import { useTest } from "../rehearsal/useTest";
import { withTestProblems } from "../rehearsal/withTestProblems";
import { Loading, Missing } from "../shell/Loading";
import { sayError } from "../shell/say";
import { useTitle } from "../shell/useTitle";
import { download } from "../text/download";
import { ActionSpotlight, actionSpotlight } from "./ActionSpotlight";
import { AddStepSpotlight, addStepSpotlight, type Wanted } from "./AddStepSpotlight";
import { createAutosave } from "./autosave";
import { ConflictDialog } from "./ConflictDialog";
import { Drawer, type DrawerTab } from "./Drawer";
import { EditorHeader } from "./EditorHeader";
import styles from "./EditorPage.module.css";
import { Palette } from "./Palette";
import { ShortcutsDialog } from "./ShortcutsDialog";
import { StepPanel } from "./StepPanel";
import { useActions } from "./useActions";
import { useCheckedGraph } from "./useCheckedGraph";
import { useClipboard } from "./useClipboard";
import { useEditing } from "./useEditing";

/** The editor of one pipeline. */
export function EditorPage() {
  const { id = "" } = useParams();
  const catalogue = useCatalogue();
  const pipeline = useQuery({
    queryKey: ["pipeline", id],
    queryFn: async () => (await getPipeline({ path: { pipeline_id: id } })) as unknown as Pipeline,
    // What is drawn here is newer than any answer; others' changes come as a conflict.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: 1,
  });
  if (pipeline.error) return <Missing message={pipeline.error.message} />;
  if (!pipeline.data || !catalogue) return <Loading />;
  return <Opened key={id} pipeline={pipeline.data} catalogue={catalogue} />;
}

function Opened({
  pipeline,
  catalogue,
}: {
  pipeline: Pipeline;
  catalogue: NonNullable<ReturnType<typeof useCatalogue>>;
}) {
  const [store] = useState(() => createGraphStore(readGraph(pipeline.graph)));
  const [checked] = useState(() => createCheckStore());
  const [rehearsal] = useState(() => createRehearsalStore(keptRows(pipeline.id)));
  const [stores] = useState(() => ({
    check: withTestProblems(checked, rehearsal),
    live: createLiveStore(),
    selection: createSelectionStore(),
  }));
  const things = useMemo(() => ({ ...stores, catalogue, readOnly: false }), [stores, catalogue]);
  return (
    <GraphStoreContext value={store}>
      <CanvasContext value={things}>
        <RehearsalContext value={rehearsal}>
          <ReactFlowProvider>
            <Editor pipeline={pipeline} checked={checked} />
          </ReactFlowProvider>
        </RehearsalContext>
      </CanvasContext>
    </GraphStoreContext>
  );
}

interface EditorProps {
  pipeline: Pipeline;
  /** What the check says, before what a test adds to it. */
  checked: ReturnType<typeof createCheckStore>;
}

function Editor({ pipeline, checked }: EditorProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { catalogue, live, selection } = useCanvas();
  const rehearsal = useRehearsalStore();
  const store = useGraphStore();
  const graph = useStore(store.state, (s) => s.graph);
  const editing = useEditing();
  const [name, setName] = useState(pipeline.name);
  const [tab, setTab] = useState<DrawerTab | null>(null);
  const [wanted, setWanted] = useState<Wanted>({});
  const [help, setHelp] = useState(false);
  const [deploying, setDeploying] = useState(false);
  const [stopping, setStopping] = useState(false);
  useTitle(name);
  // What failed leads here with the step at fault.
  const [search] = useSearchParams();
  const atFault = search.get("step");
  useEffect(() => {
    if (atFault) select(selection, [atFault]);
  }, [atFault, selection]);

  const { autosave, save } = useSaved(pipeline, name, graph);
  useCheckedGraph(graph, checked);
  useClipboard(editing);
  const followed = useDeployment(pipeline.deployment?.id ?? null);
  useLiveCounts(live, followed.state);
  const runs = useCaseRuns(pipeline.id, graph, autosave.flush);
  const { test, cancel } = useTest({
    pipeline: pipeline.id,
    graph,
    catalogue,
    store: rehearsal,
    showTab: setTab,
  });

  const doors = useMemo(
    () => ({
      openSpotlight: actionSpotlight.open,
      openAddStep: () => {
        setWanted({});
        addStepSpotlight.open();
      },
      openHelp: () => setHelp(true),
      openDeploy: () => setDeploying(true),
      test,
      showTab: setTab,
      save: () => void autosave.flush(),
      exportJson: () =>
        download(
          `${pipeline.slug}.json`,
          "application/json",
          JSON.stringify({ name, graph: store.graph() }, null, 1),
        ),
    }),
    [autosave, store, pipeline.slug, name, test],
  );
  const actions = useActions(editing, doors);

  async function stop() {
    if (!pipeline.deployment) return;
    setStopping(true);
    try {
      await stopDeployment({ path: { deployment_id: pipeline.deployment.id } });
    } catch (error) {
      sayError(error);
    } finally {
      setStopping(false);
    }
  }

  function openStep(id: string) {
    editing.show(id);
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>("[data-testid=step-panel]")?.focus(),
    );
  }

  function takeTheirs() {
    const theirs = autosave.takeTheirs();
    if (!theirs) return;
    setName(theirs.name);
    store.replace(readGraph(theirs.graph));
  }

  function titleOf(id: string): string {
    const step = graph.steps.find((s) => s.id === id);
    return step?.label || catalogue.get(step?.type ?? "")?.title || id;
  }

  function follow(problem: Problem) {
    setDeploying(false);
    setTab("problems");
    if (problem.step) editing.show(problem.step, problem.field);
  }

  return (
    <div className={styles.editor}>
      <div className={styles.header}>
        <EditorHeader
          name={name}
          onName={setName}
          save={save}
          version={pipeline.latest_version}
          deployment={followed.state}
          stopping={stopping}
          onProblems={() => setTab("problems")}
          onTest={test}
          onCancelTest={cancel}
          onDeploy={() => setDeploying(true)}
          onStop={() => void stop()}
          onSpotlight={actionSpotlight.open}
        />
      </div>
      <div className={styles.palette}>
        <Palette editing={editing} />
      </div>
      <main style={{ minWidth: 0, minHeight: 0 }} aria-label={t("canvas.name")}>
        <Canvas
          onAskForStep={(at, from) => {
            setWanted({ at, from });
            addStepSpotlight.open();
          }}
          onOpenStep={openStep}
        />
      </main>
      <Side editing={editing} selection={selection} />
      <div
        className={styles.drawer}
        data-open={tab !== null}
        data-tall={tab === "rows" || tab === "cases"}
      >
        <Drawer
          tab={tab}
          onTab={setTab}
          editing={editing}
          name={name}
          pipeline={pipeline.id}
          save={autosave.flush}
          runs={runs}
        />
      </div>
      <ActionSpotlight actions={actions} editing={editing} />
      <AddStepSpotlight wanted={wanted} editing={editing} />
      <ShortcutsDialog opened={help} onClose={() => setHelp(false)} actions={actions} />
      <ConflictDialog
        opened={save.status === "conflict"}
        message={save.message}
        onKeepMine={() => void autosave.keepMine()}
        onTakeTheirs={takeTheirs}
      />
      {deploying && (
        <DeployDialog
          pipeline={pipeline.id}
          graph={graph}
          version={null}
          titleOf={titleOf}
          runs={runs}
          save={autosave.flush}
          onDeployed={(id) => {
            void queries.invalidateQueries({ queryKey: ["pipelines"] });
            navigate(`/deployments/${id}?deployed`);
          }}
          onProblem={follow}
          onClose={() => setDeploying(false)}
        />
      )}
    </div>
  );
}

function Side({
  editing,
  selection,
}: {
  editing: ReturnType<typeof useEditing>;
  selection: ReturnType<typeof useCanvas>["selection"];
}) {
  const chosen = useStore(selection, (s) => s.steps);
  const open = useGraph((graph) => graph.steps.some((step) => chosen.includes(step.id)));
  if (!open) return null;
  return (
    <div className={styles.side}>
      <StepPanel editing={editing} />
    </div>
  );
}

/** Keep the draft saved from the first change on, and what is left when the page goes away. */
function useSaved(pipeline: Pipeline, name: string, graph: Graph) {
  const [autosave] = useState(() =>
    createAutosave<Graph>(pipeline.revision, async (draft, revision) => {
      const { revision: next } = await updatePipeline({
        path: { pipeline_id: pipeline.id },
        body: { revision, name: draft.name.trim() || pipeline.name, graph: { ...draft.graph } },
      });
      return next;
    }),
  );
  const save = useStore(autosave.state);
  const first = useRef({ name, graph });
  useEffect(() => {
    if (first.current.name === name && first.current.graph === graph) return;
    first.current = { name, graph };
    autosave.changed({ name, graph });
  }, [autosave, name, graph]);
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (autosave.state.getState().status === "saved") return;
      void autosave.flush();
      event.preventDefault();
    };
    window.addEventListener("beforeunload", leave);
    return () => {
      window.removeEventListener("beforeunload", leave);
      void autosave.flush();
    };
  }, [autosave]);
  return { autosave, save };
}
