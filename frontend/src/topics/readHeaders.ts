/** Headers as people write them, `name: value` on each line; null where a line is none. */
export function readHeaders(text: string): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).trim();
    if (at < 1 || !name) return null;
    found[name] = line.slice(at + 1).trim();
  }
  return found;
}
