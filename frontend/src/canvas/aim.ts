import { createStore, useStore } from "zustand";

/** The edge that a step dragged from the palette would be spliced into if it were dropped now. */
const aim = createStore<{ edge: string | null }>(() => ({ edge: null }));

export function aimAt(edge: string | null): void {
  if (aim.getState().edge !== edge) aim.setState({ edge });
}

export function useAimedEdge(): string | null {
  return useStore(aim, (state) => state.edge);
}

/** The id of the edge drawn under a point of the screen; null where there is none. */
export function edgeUnder(x: number, y: number): string | null {
  for (const element of document.elementsFromPoint(x, y)) {
    const edge = element.closest(".react-flow__edge");
    if (edge) return edge.getAttribute("data-id");
  }
  return null;
}
