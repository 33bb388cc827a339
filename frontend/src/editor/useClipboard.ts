import { useEffect } from "react";
import { readFragment } from "../canvas/editGraph";
import type { Editing } from "./useEditing";

/** Copy, cut and paste steps as JSON through the clipboard, where no text is being edited. */
export function useClipboard(editing: Editing): void {
  useEffect(() => {
    function copy(event: ClipboardEvent) {
      if (isEditingText(event.target) || !window.getSelection()?.isCollapsed) return;
      const fragment = editing.copied();
      if (!fragment) return;
      event.clipboardData?.setData("text/plain", JSON.stringify(fragment, null, 1));
      event.preventDefault();
      if (event.type === "cut") editing.remove(false);
    }
    function paste(event: ClipboardEvent) {
      if (isEditingText(event.target)) return;
      const fragment = readFragment(event.clipboardData?.getData("text/plain") ?? "");
      if (!fragment) return;
      event.preventDefault();
      editing.paste(fragment);
    }
    document.addEventListener("copy", copy);
    document.addEventListener("cut", copy);
    document.addEventListener("paste", paste);
    return () => {
      document.removeEventListener("copy", copy);
      document.removeEventListener("cut", copy);
      document.removeEventListener("paste", paste);
    };
  }, [editing]);
}

function isEditingText(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest("input,textarea,[contenteditable=true]") !== null
  );
}
