import { useCanvas } from "../canvas/CanvasContext";
import { useGraph } from "../canvas/graphStore";

/** What people call a step: its label, else its type's title; its id where it is gone. */
export function useTitleOf(): (id: string) => string {
  const { catalogue } = useCanvas();
  const steps = useGraph((graph) => graph.steps);
  return (id) => {
    const step = steps.find((s) => s.id === id);
    return step?.label || catalogue.get(step?.type ?? "")?.title || id;
  };
}
