import { useEffect } from "react";

/** The browser tab's title while this page is there. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Headrace` : "Headrace";
  }, [title]);
}
