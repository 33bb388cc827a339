import { useLocalStorage } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import styles from "./DeploymentPage.module.css";

const LEAST = 120;
const USUAL = 330;
const STEP = 40;

/** How high the drawer is, in pixels, as this browser last had it. */
export function useDrawerHeight() {
  return useLocalStorage({ key: "headrace.drawer", defaultValue: USUAL });
}

interface Props {
  height: number;
  onHeight: (height: number) => void;
}

/** The line between canvas and drawer: dragged, or moved by the arrow keys. */
export function DrawerHandle({ height, onHeight }: Props) {
  const { t } = useTranslation();
  const begun = useRef<{ y: number; height: number } | null>(null);
  const most = Math.max(window.innerHeight - 240, LEAST);
  const set = (next: number) => onHeight(Math.round(Math.min(Math.max(next, LEAST), most)));

  function press(event: PointerEvent<HTMLDivElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    begun.current = { y: event.clientY, height };
  }

  function move({ clientY }: PointerEvent) {
    if (begun.current) set(begun.current.height + begun.current.y - clientY);
  }

  function walk(event: KeyboardEvent) {
    const next = { ArrowUp: height + STEP, ArrowDown: height - STEP, Home: LEAST, End: most }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    set(next);
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule can't be moved
    <div
      className={styles.handle}
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label={t("monitor.resize")}
      aria-valuemin={LEAST}
      aria-valuemax={most}
      aria-valuenow={Math.min(height, most)}
      onPointerDown={press}
      onPointerMove={move}
      onPointerUp={() => {
        begun.current = null;
      }}
      onPointerCancel={() => {
        begun.current = null;
      }}
      onDoubleClick={() => set(height > USUAL ? USUAL : most)}
      onKeyDown={walk}
    />
  );
}
