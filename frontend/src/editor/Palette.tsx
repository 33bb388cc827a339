import { Kbd, TextInput, Tooltip } from "@mantine/core";
import { type PointerEvent, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";
import { GROUPS, type StepType } from "../api/stepTypes";
import { useCanvas } from "../canvas/CanvasContext";
import { StepIcon } from "../canvas/StepIcon";
import { Help } from "../text/Help";
import styles from "./Palette.module.css";
import type { Editing } from "./useEditing";

const DRAG_AFTER_PX = 4;

/** The step types by group: drag one onto the canvas, or click it, or press Enter on it. */
export function Palette({ editing }: { editing: Editing }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const [search, setSearch] = useState("");
  const [drag, setDrag] = useState<{ type: StepType; x: number; y: number } | null>(null);
  // Pointer events may come faster than renders, so what they decide on is no state.
  const begun = useRef<{ x: number; y: number } | null>(null);
  const dragging = useRef(false);
  const found = [...catalogue.values()].filter((type) => matches(type, search));

  function down(event: PointerEvent<HTMLButtonElement>) {
    if (event.button !== 0) return;
    begun.current = { x: event.clientX, y: event.clientY };
    dragging.current = false;
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  function move(event: PointerEvent, type: StepType) {
    const from = begun.current;
    if (!from) return;
    const { clientX: x, clientY: y } = event;
    if (!dragging.current && Math.hypot(x - from.x, y - from.y) < DRAG_AFTER_PX) return;
    dragging.current = true;
    setDrag({ type, x, y });
    if (overCanvas(x, y)) editing.hover(type, { x, y });
  }

  function up(event: PointerEvent, type: StepType) {
    stop();
    if (!dragging.current || !overCanvas(event.clientX, event.clientY)) return;
    editing.drop(type, { x: event.clientX, y: event.clientY });
  }

  function stop() {
    begun.current = null;
    setDrag(null);
  }

  return (
    <nav className={styles.palette} aria-label={t("palette.name")}>
      <TextInput
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        placeholder={t("palette.search")}
        aria-label={t("palette.search")}
        rightSection={<Kbd size="xs">/</Kbd>}
        rightSectionPointerEvents="none"
        onKeyDown={(event) => {
          if (event.key === "Enter" && found[0]) {
            editing.add(found[0]);
            setSearch("");
          }
          if (event.key === "Escape") setSearch("");
        }}
      />
      {GROUPS.map((group) => {
        const types = found.filter((type) => type.group === group);
        if (types.length === 0) return null;
        return (
          <section key={group} aria-labelledby={`palette-${group}`}>
            <h2 id={`palette-${group}`} className={styles.group}>
              {t(`group.${group}`)}
            </h2>
            {types.map((type) => (
              <Tooltip
                key={type.type}
                label={<Help text={type.help} />}
                position="right"
                disabled={drag !== null}
              >
                <button
                  type="button"
                  className={styles.item}
                  data-group={group}
                  data-step-type={type.type}
                  onPointerDown={down}
                  onPointerMove={(event) => move(event, type)}
                  onPointerUp={(event) => up(event, type)}
                  onPointerCancel={stop}
                  onClick={(event) => {
                    // The click that ends a drag is none; the one of a key has no pointer before it.
                    if (event.detail === 0 || !dragging.current) editing.add(type);
                  }}
                >
                  <StepIcon name={type.icon} />
                  {type.title}
                </button>
              </Tooltip>
            ))}
          </section>
        );
      })}
      {found.length === 0 && <p className={styles.none}>{t("palette.none", { search })}</p>}
      {drag &&
        createPortal(
          <div
            className={styles.ghost}
            data-group={drag.type.group}
            style={{ left: drag.x, top: drag.y }}
          >
            <StepIcon name={drag.type.icon} />
            {drag.type.title}
          </div>,
          document.body,
        )}
    </nav>
  );
}

export function matches(type: StepType, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${type.title} ${type.type} ${type.group} ${type.help}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function overCanvas(x: number, y: number): boolean {
  return document.elementsFromPoint(x, y).some((element) => element.closest(".react-flow"));
}
