interface Frame {
  from: number;
  to: number;
  width: number;
  height: number;
}

const MARGIN = 2;

/** Points as the path of a line from nothing to its highest value; gaps where a value is unknown. */
export function sparkPath(
  points: { at: number; value: number | null }[],
  { from, to, width, height }: Frame,
): string {
  const highest = Math.max(0, ...points.map(({ value }) => value ?? 0));
  let pen = "M";
  return points
    .map(({ at, value }) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const x = ((Math.max(at, from) - from) / (to - from)) * width;
      const share = highest > 0 ? value / highest : 0;
      const y = height - MARGIN - share * (height - 2 * MARGIN);
      const step = `${pen}${Number(x.toFixed(1))} ${Number(y.toFixed(1))}`;
      pen = "L";
      return step;
    })
    .join("");
}
