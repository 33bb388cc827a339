/** A moment as people write it, here: `22 Nov 2026, 14:30`. */
export function moment(at: string): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
