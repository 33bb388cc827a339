const WIDTH = 16;

/** Bytes, given as base64, sixteen a line: where they stand, as hex, and as far as they are text. */
export function hexDump(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const lines = [];
  for (let at = 0; at < bytes.length; at += WIDTH) {
    const some = [...bytes.slice(at, at + WIDTH)];
    const hex = some.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = some.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "."));
    lines.push(
      `${at.toString(16).padStart(6, "0")}  ${hex.padEnd(3 * WIDTH - 1)}  ${text.join("")}`,
    );
  }
  return lines.join("\n");
}
