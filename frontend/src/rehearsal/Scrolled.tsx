import type { ReactNode } from "react";
import styles from "./Rehearsal.module.css";

/** What may be wider than there is room for: it scrolls, by keyboard too. */
export function Scrolled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section
      className={styles.scroll}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
    >
      {children}
    </section>
  );
}
