/** Two texts by what they share at both ends and where they differ. */
export interface ChangedPart {
  head: string;
  removed: string;
  added: string;
  tail: string;
}

const WORD = /[\p{L}\p{N}_`]/u;
const SHOWN = 22;

/** Where a text was changed, in whole words, with a little of what stands around it. */
export function changedPart(before: string, after: string): ChangedPart {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head++;
  while (head > 0 && WORD.test(before[head - 1] ?? "")) head--;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  while (tail > 0 && WORD.test(before.at(-tail) ?? "")) tail--;
  return {
    head: head > SHOWN ? `…${before.slice(head - SHOWN, head)}` : before.slice(0, head),
    removed: before.slice(head, before.length - tail),
    added: after.slice(head, after.length - tail),
    tail: end(before.slice(before.length - tail)),
  };
}

function end(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
