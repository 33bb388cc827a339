import { useHotkeys } from "@mantine/hooks";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { readFragment } from "../canvas/editGraph";
import { useGraphStore } from "../canvas/graphStore";
import type { DrawerTab } from "./Drawer";
import type { Editing } from "./useEditing";

/** Something one can do in the editor: listed, searched, and done by its keys. */
export interface Action {
  id: string;
  label: string;
  /** Keys as Mantine writes them; several are separated by commas. */
  keys?: string;
  /** Keys that the browser or React Flow handles; listed, but not bound here. */
  native?: boolean;
  run: () => void;
}

export interface Doors {
  openSpotlight: () => void;
  openAddStep: () => void;
  openHelp: () => void;
  openDeploy: () => void;
  test: () => void;
  showTab: (tab: DrawerTab) => void;
  save: () => void;
  exportJson: () => void;
}

/** All actions of the editor, with their keys bound while this component is there. */
export function useActions(editing: Editing, doors: Doors): Action[] {
  const { t } = useTranslation();
  const store = useGraphStore();
  const actions = useMemo((): Action[] => {
    const action = (id: string, keys: string | undefined, run: () => void, native = false) => ({
      id,
      label: t(`action.${id as "undo"}`),
      keys,
      native,
      run,
    });
    return [
      action("addStep", "/,shift+/", doors.openAddStep),
      action("spotlight", "mod+K,mod+F", doors.openSpotlight),
      action("undo", "mod+Z", store.undo),
      action("redo", "mod+shift+Z,mod+Y", store.redo),
      action("copy", "mod+C", () => document.execCommand("copy"), true),
      action("paste", "mod+V", () => void pasteFromClipboard(editing), true),
      action("duplicate", "mod+D", editing.duplicate),
      action("selectAll", "mod+A", editing.selectAll),
      action("delete", "Delete", () => editing.remove(false), true),
      action("deleteReconnect", "mod+Delete,mod+Backspace", () => editing.remove(true)),
      action("tidy", "shift+L", () => void editing.tidy()),
      action("fit", "shift+F", editing.showAll),
      // Bound where testing is, since it works while rows are typed, too.
      action("test", "mod+Enter", doors.test, true),
      action("deploy", "mod+shift+Enter", doors.openDeploy),
      action("save", "mod+S", doors.save),
      action("problems", undefined, () => doors.showTab("problems")),
      action("rows", undefined, () => doors.showTab("rows")),
      action("cases", undefined, () => doors.showTab("cases")),
      action("plan", undefined, () => doors.showTab("plan")),
      action("code", undefined, () => doors.showTab("code")),
      action("exportJson", undefined, doors.exportJson),
      action("help", "?,shift+?", doors.openHelp),
    ];
  }, [t, store, editing, doors]);

  useHotkeys(
    actions
      .filter(({ keys, native }) => keys && !native)
      .flatMap(({ keys = "", run }) =>
        keys.split(",").map((key) => [key, run] as [string, () => void]),
      ),
  );
  return actions;
}

const MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Keys as people read them: `Ctrl+Shift+Z`; of several, the first. */
export function readKeys(keys: string): string {
  return (keys.split(",")[0] ?? "")
    .split("+")
    .map((key) =>
      key === "mod" ? (MAC ? "⌘" : "Ctrl") : (key[0] ?? "").toUpperCase() + key.slice(1),
    )
    .filter((key, i, all) => !(key === "Shift" && all[i + 1] === "?"))
    .join(MAC ? " " : "+");
}

// From a menu there is no paste event to read from, so the browser asks for permission.
async function pasteFromClipboard(editing: Editing) {
  const fragment = readFragment(await navigator.clipboard.readText());
  if (fragment) editing.paste(fragment);
}
