import { memo } from "react";
import styles from "./Sparkline.module.css";
import { sparkPath } from "./sparkPath";

const WIDTH = 96;
const HEIGHT = 24;

export interface SparkPoint {
  /** In seconds since 1970. */
  at: number;
  value: number | null;
}

interface Props {
  points: SparkPoint[];
  from: number;
  to: number;
  /** What it shows, for those who can't see it. */
  label: string;
}

/** A line without axes, from nothing to its own highest value. */
export const Sparkline = memo(function Sparkline({ points, from, to, label }: Props) {
  const path = sparkPath(points, { from, to, width: WIDTH, height: HEIGHT });
  return (
    <svg
      className={styles.line}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={path} />
    </svg>
  );
});
