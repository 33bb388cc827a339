/** A text that has names between backticks, which are shown as code. */
export function Help({ text }: { text: string }) {
  return text.split("`").map((part, i) =>
    i % 2 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have a fixed order
      <span key={i} className="mono">
        {part}
      </span>
    ) : (
      part
    ),
  );
}
