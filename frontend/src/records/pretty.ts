/**
 * A JSON text with a line for each value; null where it is no JSON. Numbers stay as they are
 * written, also those that JavaScript would round.
 */
export function pretty(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  let out = "";
  // Of what is sound JSON these are all the parts.
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (part === "{" || part === "[") {
      depth += 1;
      out += part + line();
    } else if (part === "}" || part === "]") {
      depth -= 1;
      out = `${/[{[]\s*$/.test(out) ? out.trimEnd() : out + line()}${part}`;
    } else if (part === ",") out += part + line();
    else out += part === ":" ? ": " : part;
  }
  return out;
}
