/** A box in the drawing, or in the pixels of the pane that shows it. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A box of the drawing in the pixels of the pane. */
export function inPane(box: Box, [left, top, zoom]: [number, number, number]): Box {
  return {
    x: box.x * zoom + left,
    y: box.y * zoom + top,
    width: box.width * zoom,
    height: box.height * zoom,
  };
}

/** How far a box must move to be within a pane of this size; not at all in a way it is too large for. */
export function shiftInto(box: Box, pane: { width: number; height: number }, margin = 0) {
  return {
    x: shift(box.x, box.width, pane.width, margin),
    y: shift(box.y, box.height, pane.height, margin),
  };
}

function shift(from: number, length: number, room: number, margin: number): number {
  if (length + 2 * margin > room) return 0;
  return Math.max(margin - from, 0) + Math.min(room - margin - length - from, 0);
}

/** Whether any of a box is outside of the pane. */
export function isCutOff(box: Box, pane: { width: number; height: number }): boolean {
  const { x, y, width, height } = box;
  return x < 0 || y < 0 || x + width > pane.width || y + height > pane.height;
}
