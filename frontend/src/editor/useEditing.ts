import { useReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import type { Edge, Graph, Position, Step } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import { aimAt, edgeUnder } from "../canvas/aim";
import { autoLayout } from "../canvas/autoLayout";
import { useCanvas } from "../canvas/CanvasContext";
import { inputFor } from "../canvas/connectionRules";
import {
  addStep,
  copySteps,
  edgeId,
  type Fragment,
  freeId,
  moveSteps,
  pasteSteps,
  removeSteps,
  spliceStep,
} from "../canvas/editGraph";
import type { StepEdge, StepNode } from "../canvas/flow";
import { useGraphStore } from "../canvas/graphStore";
import {
  edgeBetween,
  givenBy,
  inputOf,
  inputsOf,
  kindOf,
  namesInputs,
  outputsOf,
} from "../canvas/ports";
import { select } from "../canvas/selectionStore";
import { useConnections } from "../connections/useConnections";
import { newConfig } from "../form/newConfig";

const CARD = { width: 208, height: 74 };
const GAP = 72;

/** Everything that changes the drawing by more than one hand movement, each one undo step. */
export function useEditing() {
  const store = useGraphStore();
  const { catalogue, check, selection } = useCanvas();
  const flow = useReactFlow<StepNode, StepEdge>();
  const connections = useConnections();

  return useMemo(() => {
    const kinds = () => check.getState().steps;

    function made(graph: Graph, type: StepType): Step {
      const names = (connections.data?.items ?? []).map((connection) => connection.name);
      return { id: freeId(graph, type.type), type: type.type, config: newConfig(type, names) };
    }

    function middle(): Position {
      const box = document.querySelector(".react-flow")?.getBoundingClientRect();
      if (!box) return { x: 0, y: 0 };
      return flow.screenToFlowPosition({
        x: box.left + box.width / 2,
        y: box.top + box.height / 2,
      });
    }

    /** Add a step that reads from an output of another, where such an edge may be. */
    function addAfter(type: StepType, from: { step: string; output: string }, at?: Position) {
      store.change((graph) => {
        const step = made(graph, type);
        const input = inputFor(type, kindOf(graph, catalogue, kinds(), from.step));
        const before = graph.canvas.layout[from.step] ?? { x: 0, y: 0 };
        const place = at
          ? { x: at.x, y: at.y - CARD.height / 2 }
          : free(graph, { x: before.x + CARD.width + GAP, y: before.y });
        const placed = addStep(graph, step, place);
        select(selection, [step.id]);
        if (input === undefined) return placed;
        const edge = edgeBetween(placed, catalogue, from.step, from.output, step.id, input);
        return { ...placed, edges: [...placed.edges, edge] };
      });
    }

    /** Add a step behind the selected one where that can be, else in the middle of the view. */
    function add(type: StepType, at?: Position) {
      const chosen = selection.getState().steps;
      const from = chosen.length === 1 && !at ? chosen[0] : undefined;
      const graph = store.graph();
      const before = graph.steps.find((step) => step.id === from);
      const beforeType = catalogue.get(before?.type ?? "");
      if (before && beforeType && type.inputs.length > 0) {
        const output = outputsOf(before, beforeType).find(
          (name) => !graph.edges.some((e) => e.from === before.id && (e.output ?? "rows") === name),
        );
        const kind = kindOf(graph, catalogue, kinds(), before.id);
        if (output !== undefined && inputFor(type, kind) !== undefined)
          return addAfter(type, { step: before.id, output });
      }
      store.change((g) => {
        const step = made(g, type);
        const { x, y } = at ?? middle();
        select(selection, [step.id]);
        return addStep(g, step, free(g, { x: x - CARD.width / 2, y: y - CARD.height / 2 }));
      });
    }

    /** Drop a step from the palette at a point of the screen; on an edge, it is spliced in. */
    function drop(type: StepType, screen: Position) {
      aimAt(null);
      const at = flow.screenToFlowPosition(screen);
      const place = { x: at.x - CARD.width / 2, y: at.y - CARD.height / 2 };
      const under = edgeUnder(screen.x, screen.y);
      store.change((graph) => {
        const step = made(graph, type);
        select(selection, [step.id]);
        const edge = graph.edges.find((e) => edgeId(e) === under);
        if (!edge || !maySplice(graph, type, edge)) return addStep(graph, step, place);
        const input = inputFor(type, kindOf(graph, catalogue, kinds(), edge.from)) ?? "rows";
        return spliceStep(graph, step, place, edge, {
          port: namesInputs(type) ? input : undefined,
          output: type.outputs_from ? "otherwise" : undefined,
        });
      });
    }

    /** Show where a step dragged from the palette would go in. */
    function hover(type: StepType, screen: Position) {
      const under = edgeUnder(screen.x, screen.y);
      const edge = store.graph().edges.find((e) => edgeId(e) === under);
      aimAt(edge && maySplice(store.graph(), type, edge) ? under : null);
    }

    /** Whether a new step takes what flows on an edge, and the edge's end takes what it gives. */
    function maySplice(graph: Graph, type: StepType, edge: Edge): boolean {
      const kind = kindOf(graph, catalogue, kinds(), edge.from);
      if (type.outputs.length === 0 || inputFor(type, kind) === undefined) return false;
      const after = graph.steps.find((step) => step.id === edge.to);
      const inputs = inputsOf(after, catalogue.get(after?.type ?? ""));
      const end = inputs.find(({ name }) => name === inputOf(edge, inputs));
      return end?.kinds.includes(givenBy(made(graph, type), type) ?? kind) ?? true;
    }

    function remove(reconnect: boolean) {
      const chosen = selection.getState().steps;
      if (chosen.length) store.change((graph) => removeSteps(graph, chosen, reconnect));
    }

    function copied(): Fragment | null {
      const chosen = selection.getState().steps;
      return chosen.length ? copySteps(store.graph(), chosen) : null;
    }

    function paste(fragment: Fragment) {
      store.change((graph) => {
        const pasted = pasteSteps(graph, fragment, shift(graph, fragment));
        select(selection, pasted.ids);
        return pasted.graph;
      });
    }

    function duplicate() {
      const fragment = copied();
      if (fragment) paste(fragment);
    }

    function selectAll() {
      select(
        selection,
        store.graph().steps.map((step) => step.id),
      );
    }

    async function tidy() {
      const places = await autoLayout(store.graph(), flow.getNodes());
      store.change((graph) => moveSteps(graph, places));
      requestAnimationFrame(showAll);
    }

    function showAll() {
      flow.fitView({ padding: 0.18, maxZoom: 1.1, duration: 200 });
    }

    /** Bring a step into view and select it; `field` also opens that field of its form. */
    function show(step: string, field?: string | null) {
      select(selection, [step]);
      if (field) selection.setState({ field: { step, field, at: Date.now() } });
      const place = store.graph().canvas.layout[step];
      if (!place) return;
      flow.setCenter(place.x + CARD.width / 2, place.y + CARD.height / 2, {
        zoom: Math.max(flow.getZoom(), 0.8),
        duration: 200,
      });
    }

    return {
      add,
      addAfter,
      drop,
      hover,
      remove,
      copied,
      paste,
      duplicate,
      selectAll,
      tidy,
      showAll,
      show,
    };
  }, [store, catalogue, check, selection, flow, connections.data]);
}

export type Editing = ReturnType<typeof useEditing>;

/** The first place at or below `wanted` where no card stands. */
function free(graph: Graph, wanted: Position): Position {
  const places = Object.values(graph.canvas.layout);
  const place = { ...wanted };
  const covered = () =>
    places.some(
      ({ x, y }) =>
        Math.abs(x - place.x) < CARD.width + 10 && Math.abs(y - place.y) < CARD.height + 10,
    );
  while (covered()) place.y += CARD.height + 36;
  return place;
}

function shift(graph: Graph, fragment: Fragment): Position {
  const taken = Object.values(graph.canvas.layout);
  const wanted = Object.values(fragment.layout);
  const covers = (by: number) =>
    wanted.some((w) => taken.some((t) => Math.hypot(t.x - w.x - by, t.y - w.y - by) < 24));
  let by = 0;
  while (covers(by)) by += 40;
  return { x: by, y: by };
}
