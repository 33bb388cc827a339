import type { Graph } from "../api/graph";
import { layered } from "../canvas/layered";
import type { Catalogue } from "../canvas/ports";
import { summary } from "../canvas/summary";

const WIDTH = 132;
const HEIGHT = 44;
const MARGIN = 10;

/** A graph drawn small: its steps in the colours of their groups, joined as the rows flow. */
export function GraphPicture({ graph, catalogue }: { graph: Graph; catalogue: Catalogue }) {
  const places = layered(graph);
  const at = (id: string) => {
    const { x, y } = places[id] ?? { x: 0, y: 0 };
    return { x: (x / 280) * 172 + MARGIN, y: (y / 130) * 60 + MARGIN };
  };
  const points = graph.steps.map(({ id }) => at(id));
  const width = Math.max(...points.map((p) => p.x), 0) + WIDTH + MARGIN;
  const height = Math.max(...points.map((p) => p.y), 0) + HEIGHT + MARGIN;
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width="100%"
      style={{ maxHeight: 130 }}
      aria-hidden="true"
    >
      {graph.edges.map(({ from, to, output, port }) => {
        const [a, b] = [at(from), at(to)];
        const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
        const bend = Math.max(18, (x2 - x1) / 2);
        return (
          <path
            key={`${from} ${output} ${to} ${port}`}
            d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
            fill="none"
            stroke="var(--hr-faint)"
            strokeWidth="1.6"
          />
        );
      })}
      {graph.steps.map((step) => {
        const { x, y } = at(step.id);
        const type = catalogue.get(step.type);
        const color = `var(--hr-${(type?.group ?? "rows").toLowerCase()})`;
        return (
          <g key={step.id} transform={`translate(${x} ${y})`}>
            <rect
              width={WIDTH}
              height={HEIGHT}
              rx="8"
              fill="var(--hr-panel)"
              stroke="var(--hr-line)"
            />
            <rect x="0" y="8" width="3" height={HEIGHT - 16} rx="1.5" fill={color} />
            <text x="12" y="19" fontSize="12" fontWeight="600" fill="var(--hr-ink)">
              {cut(step.label || type?.title || step.type, 17)}
            </text>
            <text x="12" y="34" fontSize="10" fill="var(--hr-soft)" fontFamily="var(--hr-mono)">
              {cut(summary(step), 18)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
