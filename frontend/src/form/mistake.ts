import { isName, type Token, tokens } from "./sqlTokens";

/** What a sentence of the check says is wrong, and what was perhaps meant. */
export interface Mistake {
  wrong: string;
  right: string | null;
}

const WRONG = [
  /There is no (?:column|field|function) (.+?)\.(?: |$)/,
  /(?:^|: )(\S+) is no function that expressions may call\./,
];
// Of a wrong call the function's name is underlined, of others the text that the sentence quotes.
const CALLED = /^(\w+) takes .+ arguments, not /;
const QUOTED = [/^In (.+?): /, /^Can't extract a value from "(.+?)"/];
const NEAR = /^This is no complete expression near (.+?): /;
const RIGHT = /Did you mean (.+)\?$/;

/** Read a sentence about an unknown name; null where it is about something else. */
export function readMistake(sentence: string): Mistake | null {
  const right = RIGHT.exec(sentence)?.[1] ?? null;
  for (const pattern of WRONG) {
    const wrong = pattern.exec(sentence)?.[1];
    if (wrong) return { wrong, right };
  }
  return null;
}

/** Where an expression has a name, with all its parts where it is one of several (`a.b`). */
export function placesOf(text: string, name: string): { from: number; to: number }[] {
  const all = tokens(text);
  const wanted = name.toLowerCase();
  const parts = wanted.split(".");
  return all.flatMap((token, i) => {
    if (token.kind !== "word" && !isName(token)) return [];
    if (token.name.toLowerCase() === wanted) return [{ from: token.from, to: token.to }];
    const last = all[i + 2 * (parts.length - 1)];
    const isPath =
      parts.length > 1 && last && parts.every((part, n) => isPart(all, i + 2 * n, part, n > 0));
    return isPath ? [{ from: token.from, to: last.to }] : [];
  });
}

function isPart(all: Token[], i: number, part: string, behindDot: boolean): boolean {
  const token = all[i];
  return token?.name.toLowerCase() === part && (!behindDot || all[i - 1]?.name === ".");
}

/** A text with a name replaced wherever it stands as a name; null where it stands nowhere. */
export function mended(text: string, wrong: string, right: string): string | null {
  const places = placesOf(text, wrong);
  if (places.length === 0) return null;
  let result = text;
  for (const { from, to } of places.reverse())
    result = result.slice(0, from) + right + result.slice(to);
  return result;
}

/** The places of a text that the sentences about it are about, as far as they can be told. */
export function faultsIn(text: string, sentences: string[]): { from: number; to: number }[] {
  return sentences.flatMap((sentence) => {
    const name = readMistake(sentence)?.wrong ?? CALLED.exec(sentence)?.[1];
    if (name) return placesOf(text, name);
    const piece = [...QUOTED, NEAR].map((pattern) => pattern.exec(sentence)?.[1]).find(Boolean);
    const at = piece ? text.lastIndexOf(piece) : -1;
    return piece && at >= 0 ? [{ from: at, to: at + piece.length }] : [];
  });
}
