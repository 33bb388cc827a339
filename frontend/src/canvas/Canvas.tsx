import {
  applyEdgeChanges,
  applyNodeChanges,
  Background,
  BackgroundVariant,
  type Connection,
  Controls,
  type EdgeChange,
  type NodeChange,
  type OnConnectEnd,
  ReactFlow,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useStore } from "zustand";
import type { Position } from "../api/graph";
import { RenameNotice } from "../form/RenameNotice";
import styles from "./Canvas.module.css";
import { useCanvas } from "./CanvasContext";
import { whyNot } from "./connectionRules";
import { addEdge, moveSteps, removeEdges, removeSteps } from "./editGraph";
import { placesOf, type StepEdge, type StepNode, toEdges, toNodes } from "./flow";
import { useGraphStore } from "./graphStore";
import { neighbour } from "./neighbour";
import { Overview } from "./Overview";
import { edgeBetween } from "./ports";
import { RefusalNotice } from "./RefusalNotice";
import { RowsEdge } from "./RowsEdge";
import { SegmentOutlines } from "./SegmentOutlines";
import { StepCard } from "./StepCard";
import { select } from "./selectionStore";
import { useStayInView } from "./useStayInView";
import "@xyflow/react/dist/style.css";

const NODE_TYPES = { step: StepCard };
const EDGE_TYPES = { rows: RowsEdge };
const FIT = { padding: 0.18, maxZoom: 1.1 };
const DELETE_KEYS = ["Delete", "Backspace"];
const ARROWS = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
} as const;

interface Props {
  /** Where somebody asked for a step to be added by typing; `from` begins its edge. */
  onAskForStep?: (at: Position, from?: { step: string; output: string }) => void;
  /** Enter on a step: go to its form. */
  onOpenStep?: (id: string) => void;
  minimap?: boolean;
}

/** The drawing of a pipeline: the graph store's graph, editable unless the canvas is read-only. */
export function Canvas({ onAskForStep, onOpenStep, minimap = true }: Props) {
  const { t } = useTranslation();
  const { catalogue, check, selection, readOnly } = useCanvas();
  const store = useGraphStore();
  const graph = useStore(store.state, (s) => s.graph);
  const chosen = useStore(selection, (s) => s.steps);
  const flow = useReactFlow<StepNode, StepEdge>();
  const frame = useRef<HTMLDivElement>(null);
  // An empty canvas stays where it is when its first step is dropped on it.
  const [begunWith] = useState(graph.steps.length);
  const [nodes, setNodes] = useState<StepNode[]>(() => toNodes(graph, []));
  const [edges, setEdges] = useState<StepEdge[]>(() => toEdges(graph, catalogue, []));

  // What is being dragged lives here; the graph learns of it once, when it is let go.
  useEffect(() => setNodes((old) => toNodes(graph, old, new Set(chosen))), [graph, chosen]);
  useEffect(() => setEdges((old) => toEdges(graph, catalogue, old)), [graph, catalogue]);

  useStayInView(chosen);

  function changeNodes(changes: NodeChange<StepNode>[]) {
    const kept = changes.filter((change) => change.type !== "remove");
    const next = applyNodeChanges(kept, nodes);
    setNodes((old) => applyNodeChanges(kept, old));
    if (kept.some((change) => change.type === "select"))
      select(
        selection,
        next.filter((node) => node.selected).map((node) => node.id),
      );
  }

  function changeEdges(changes: EdgeChange<StepEdge>[]) {
    setEdges((old) =>
      applyEdgeChanges(
        changes.filter((c) => c.type !== "remove"),
        old,
      ),
    );
  }

  function letGo(moved: StepNode[]) {
    store.change((g) => moveSteps(g, placesOf(moved)));
  }

  function connect({ source, sourceHandle, target, targetHandle }: Connection) {
    const [output, input] = [sourceHandle ?? "rows", targetHandle ?? "rows"];
    store.change((g) => addEdge(g, edgeBetween(g, catalogue, source, output, target, input)));
  }

  function mayConnect(edge: Connection | StepEdge): boolean {
    const drawn = {
      from: edge.source,
      output: edge.sourceHandle ?? "rows",
      to: edge.target,
      input: edge.targetHandle ?? "rows",
    };
    return whyNot(store.graph(), catalogue, check.getState().steps, drawn) === null;
  }

  function remove({ nodes: steps, edges: gone }: { nodes: StepNode[]; edges: StepEdge[] }) {
    store.change((g) => {
      const cut = removeEdges(
        g,
        gone.flatMap((edge) => edge.data?.edge ?? []),
      );
      return steps.length
        ? removeSteps(
            cut,
            steps.map((step) => step.id),
          )
        : cut;
    });
  }

  const endConnection: OnConnectEnd = (event, { fromHandle, toNode }) => {
    if (toNode || fromHandle?.type !== "source" || !onAskForStep) return;
    const { clientX, clientY } =
      "changedTouches" in event ? (event.changedTouches[0] ?? (event as never)) : event;
    const at = flow.screenToFlowPosition({ x: clientX, y: clientY });
    onAskForStep(at, { step: fromHandle.nodeId, output: fromHandle.id ?? "rows" });
  };

  function doubleClick(event: MouseEvent) {
    if (!(event.target as Element).closest(".react-flow__pane")) return;
    onAskForStep?.(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }));
  }

  function walk(event: KeyboardEvent) {
    const target = event.target as Element;
    const id = target.closest<HTMLElement>(".react-flow__node")?.dataset.id;
    // A link on a step has keys of its own.
    if (!id || target.closest("a") || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") {
      event.preventDefault();
      select(selection, [id]);
      onOpenStep?.(id);
      return;
    }
    const way = ARROWS[event.key as keyof typeof ARROWS];
    if (!way) return;
    // Shift moves the step, as React Flow's own keys do; without it the arrows walk.
    if (event.shiftKey) {
      if (!readOnly) nudge(id, way);
    } else {
      const next = neighbour(store.graph(), id, way);
      if (next) focusStep(next);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function nudge(id: string, way: (typeof ARROWS)[keyof typeof ARROWS]) {
    const by = { left: [-20, 0], right: [20, 0], up: [0, -20], down: [0, 20] }[way] as [
      number,
      number,
    ];
    const moved = chosen.includes(id) ? chosen : [id];
    store.change((g) => {
      const places = moved.map((step) => {
        const { x, y } = g.canvas.layout[step] ?? { x: 0, y: 0 };
        return [step, { x: x + by[0], y: y + by[1] }] as const;
      });
      return moveSteps(g, Object.fromEntries(places));
    }, "nudge");
  }

  function focusStep(id: string) {
    select(selection, [id]);
    frame.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${id}"]`)?.focus();
  }

  const labelled = useMemo(
    () =>
      nodes.map((node) => {
        const title = catalogue.get(node.data.step.type)?.title ?? node.data.step.type;
        const label = node.data.step.label;
        const ariaLabel = label ? `${label}, ${title}` : title;
        return node.ariaLabel === ariaLabel ? node : Object.assign(node, { ariaLabel });
      }),
    [nodes, catalogue],
  );

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys and clicks bubble from focusable steps
    <div
      ref={frame}
      className={styles.canvas}
      onKeyDownCapture={walk}
      onDoubleClick={doubleClick}
      data-testid="canvas"
    >
      <ReactFlow<StepNode, StepEdge>
        nodes={labelled}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={changeNodes}
        onEdgesChange={changeEdges}
        onNodeDragStop={(_, __, moved) => letGo(moved)}
        onSelectionDragStop={(_, moved) => letGo(moved)}
        onConnect={connect}
        onConnectEnd={endConnection}
        isValidConnection={mayConnect}
        onDelete={remove}
        onNodeDoubleClick={(_, node) => onOpenStep?.(node.id)}
        nodesDraggable={!readOnly}
        nodesConnectable={!readOnly}
        deleteKeyCode={readOnly ? null : DELETE_KEYS}
        multiSelectionKeyCode={["Meta", "Control", "Shift"]}
        selectionKeyCode="Shift"
        selectionMode={SelectionMode.Partial}
        panOnScroll
        zoomOnDoubleClick={false}
        snapToGrid
        snapGrid={[10, 10]}
        connectionRadius={26}
        nodeDragThreshold={3}
        minZoom={0.1}
        maxZoom={2}
        fitView={begunWith > 0}
        fitViewOptions={FIT}
        onlyRenderVisibleElements={nodes.length > 150}
        elevateNodesOnSelect={false}
        proOptions={{ hideAttribution: true }}
        ariaLabelConfig={{
          "node.a11yDescription.default": t("canvas.nodeHelp"),
          "edge.a11yDescription.default": t("canvas.edgeHelp"),
          "controls.ariaLabel": t("canvas.controls"),
          "controls.zoomIn.ariaLabel": t("canvas.zoomIn"),
          "controls.zoomOut.ariaLabel": t("canvas.zoomOut"),
          "controls.fitView.ariaLabel": t("canvas.fit"),
          "minimap.ariaLabel": t("canvas.minimap"),
        }}
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1.4} />
        <SegmentOutlines nodes={nodes} />
        <Controls showInteractive={false} fitViewOptions={FIT} />
        {minimap && <Overview />}
      </ReactFlow>
      {!readOnly && <RefusalNotice frame={frame} />}
      {!readOnly && <RenameNotice />}
      {graph.steps.length === 0 && !readOnly && (
        <div className={styles.empty}>
          <strong>{t("canvas.emptyTitle")}</strong>
          <span>
            {t("canvas.emptyBefore")} <kbd>/</kbd> {t("canvas.emptyAfter")}
          </span>
        </div>
      )}
    </div>
  );
}
