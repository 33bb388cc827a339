/** A piece of an expression: `name` is what a word or a name in backticks says. */
export interface Token {
  kind: "word" | "quoted" | "text" | "number" | "sign";
  name: string;
  from: number;
  to: number;
}

const TOKEN =
  /(?<text>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)|`(?<quoted>(?:[^`]|``)*)`?|(?<number>\d[\w.]*)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|->|=>|::|\S/gsu;

/** Words that an expression or query has itself; as names they stand in backticks. */
export const WORDS = new Set(
  "all and anti any as between by case cross cast desc distinct else end escape except exists false from full group having ilike in inner intersect interval is join lateral left like limit natural not null on or order outer over right rlike select semi set then true try_cast union using values when where window with".split(
    " ",
  ),
);

/** The pieces of an expression or a query, also of one that is still being typed. */
export function tokens(text: string): Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: piece, index, groups }) => {
    const kind = (["text", "quoted", "number", "word"] as const).find(
      (k) => groups?.[k] !== undefined,
    );
    const name = kind === "quoted" ? (groups?.quoted ?? "").replaceAll("``", "`") : piece;
    return { kind: kind ?? "sign", name, from: index, to: index + piece.length };
  });
}

/** A column's name as an expression says it. */
export function quoted(name: string): string {
  const plain = /^[A-Za-z_]\w*$/.test(name) && !WORDS.has(name.toLowerCase());
  return plain ? name : `\`${name.replaceAll("`", "``")}\``;
}

/** Whether a token is a name, not a word of the language. */
export function isName(token: Token | undefined): token is Token {
  if (token?.kind === "quoted") return true;
  return token?.kind === "word" && !WORDS.has(token.name.toLowerCase());
}

function is(token: Token | undefined, text: string): boolean {
  return (token?.kind === "sign" || token?.kind === "word") && token.name.toLowerCase() === text;
}

const UNITS = new Set(
  "year quarter month week day hour minute second millisecond microsecond years quarters months weeks days hours minutes seconds milliseconds microseconds".split(
    " ",
  ),
);
// Functions whose first argument may be a unit, which is written like a column.
const WITH_UNIT = new Set(
  "dateadd date_add datediff date_diff timestampadd timestampdiff".split(" "),
);

/**
 * The tokens that name a column by themselves (of `a.b` the a; of `alias.b`, where `aliases` has
 * the alias, the b). Functions, types, units, fields, aliases and the parameters of lambdas are
 * none.
 */
export function columnTokens(text: string, aliases = new Map<string, string>()): ColumnToken[] {
  const all = tokens(text);
  const isQuery = is(all[0], "select") || is(all[0], "with");
  const found: ColumnToken[] = [];
  // By depth of parentheses, what was called there.
  const calls: { name: string; commas: number; at: number }[] = [];
  const bound = lambdaScopes(all);
  let typeAt = -1;
  all.forEach((token, i) => {
    const [before, after] = [all[i - 1], all[i + 1]];
    if (is(token, "(")) {
      const name = before?.kind === "word" ? before.name.toLowerCase() : "";
      calls.push({ name, commas: 0, at: i });
      return;
    }
    const call = calls.at(-1);
    if (is(token, ")")) {
      if (typeAt >= calls.length) typeAt = -1;
      calls.pop();
      return;
    }
    if (is(token, ",") && call) call.commas++;
    if (is(token, "as") && (!isQuery || /cast$/.test(call?.name ?? ""))) typeAt = calls.length;
    if (typeAt >= 0 && calls.length >= typeAt && typeAt > 0) return;
    if (!isName(token)) return;
    const lower = token.name.toLowerCase();
    if (is(after, "(") && token.kind === "word") return;
    if (is(before, "::") || call?.name === "using") return;
    if (isQuery && isAlias(before)) return;
    if (after?.kind === "text" && /^(date|timestamp|timestamp_ntz|timestamp_ltz|x|r)$/.test(lower))
      return;
    if (UNITS.has(lower) && isUnit(all, i, call)) return;
    if (isQuery && namesInput(all, i)) return;
    if (bound.some((b) => b.name === lower && b.from <= i && i <= b.to)) return;
    if (is(before, ".")) {
      const owner = all[i - 2];
      const port =
        isName(owner) && !is(all[i - 3], ".") ? aliases.get(owner.name.toLowerCase()) : undefined;
      if (port !== undefined) found.push({ ...token, input: port });
      return;
    }
    if (is(after, ".") && aliases.has(lower)) return;
    found.push({ ...token, input: null });
  });
  return found;
}

export interface ColumnToken extends Token {
  /** The input whose column it is, where the query says it. */
  input: string | null;
}

/** Whether a name behind this token is what a query calls something: `amount AS n`, `amount n`. */
function isAlias(before: Token | undefined): boolean {
  return is(before, "as") || is(before, ")") || (before !== undefined && isValue(before));
}

function isValue(token: Token): boolean {
  return token.kind === "number" || token.kind === "text" || isName(token);
}

function isUnit(all: Token[], i: number, call?: { name: string; commas: number; at: number }) {
  const [before, after] = [all[i - 1], all[i + 1]];
  const isAmount = before?.kind === "number" || before?.kind === "text";
  if (isAmount && all.slice(0, i).some((token) => is(token, "interval"))) return true;
  if (call?.name === "extract" && is(after, "from")) return true;
  const isFirst = call?.at === i - 1 && is(after, ",");
  return isFirst && WITH_UNIT.has(call.name) && commasBehind(all, i) >= 2;
}

/** How many commas part the arguments from a place on. */
function commasBehind(all: Token[], i: number): number {
  let depth = 0;
  let commas = 0;
  for (const token of all.slice(i)) {
    if (is(token, "(") || is(token, "[")) depth++;
    if ((is(token, ")") || is(token, "]")) && depth-- === 0) break;
    if (is(token, ",") && depth === 0) commas++;
  }
  return commas;
}

/** Where a token names an input of a query or gives it another name. */
function namesInput(all: Token[], i: number): boolean {
  if (is(all[i - 1], "from") || is(all[i - 1], "join")) return !isCallOf(all, i, "extract");
  const owner = is(all[i - 1], "as") ? all[i - 2] : all[i - 1];
  const before = is(all[i - 1], "as") ? all[i - 3] : all[i - 2];
  return isName(owner) && (is(before, "from") || is(before, "join"));
}

function isCallOf(all: Token[], i: number, name: string): boolean {
  let depth = 0;
  for (let at = i - 1; at > 0; at--) {
    if (is(all[at], ")")) depth++;
    if (is(all[at], "(") && depth-- === 0) return is(all[at - 1], name);
  }
  return false;
}

interface Scope {
  name: string;
  from: number;
  to: number;
}

/** Where the parameters of lambdas (`x -> …`, `(a, b) -> …`) hide columns of their names. */
function lambdaScopes(all: Token[]): Scope[] {
  const scopes: Scope[] = [];
  all.forEach((token, i) => {
    if (!is(token, "->")) return;
    let first = i - 1;
    while (is(all[i - 1], ")") && first > 0 && !is(all[first], "(")) first--;
    let to = i;
    for (let depth = 0; to + 1 < all.length; to++) {
      const next = all[to + 1];
      if (is(next, "(") || is(next, "[")) depth++;
      if ((is(next, ")") || is(next, "]")) && depth-- === 0) break;
      if (is(next, ",") && depth === 0) break;
    }
    for (const parameter of all.slice(first, i))
      if (isName(parameter)) scopes.push({ name: parameter.name.toLowerCase(), from: first, to });
  });
  return scopes;
}

/** By alias in lower case, the input of a query that it stands for; an input is its own alias. */
export function aliasesOf(query: string): Map<string, string> {
  const all = tokens(query);
  const aliases = new Map<string, string>();
  all.forEach((token, i) => {
    const starts = is(all[i - 1], "from") || is(all[i - 1], "join");
    if (!starts || !isName(token) || isCallOf(all, i, "extract")) return;
    aliases.set(token.name.toLowerCase(), token.name);
    const alias = is(all[i + 1], "as") ? all[i + 2] : all[i + 1];
    if (isName(alias)) aliases.set(alias.name.toLowerCase(), token.name);
  });
  return aliases;
}

/** A function being called at a place: its name, and which of its arguments the place is in. */
export interface Call {
  name: string;
  argument: number;
  from: number;
}

// Words before a parenthesis that is only a parenthesis.
const NEVER_CALLED = new Set(
  "all and as between by case distinct else end escape except exists from having in interval intersect is join like ilike limit not on or rlike select then union using values when where with".split(
    " ",
  ),
);

/** The innermost call that a place of a text is in; null outside of all, and inside of texts. */
export function callAt(text: string, at: number): Call | null {
  const open: (Call | null)[] = [];
  const before = tokens(text).filter((token) => token.from < at);
  const last = before.at(-1);
  if (last?.kind === "text" && last.to >= at && !isClosed(text, last, at)) return null;
  before.forEach((token, i) => {
    const owner = before[i - 1];
    if (is(token, "("))
      open.push(
        owner?.kind === "word" && !NEVER_CALLED.has(owner.name.toLowerCase())
          ? { name: owner.name.toLowerCase(), argument: 0, from: owner.from }
          : null,
      );
    else if (is(token, "[")) open.push(null);
    else if (is(token, ")") || is(token, "]")) open.pop();
    const call = open.at(-1);
    if (is(token, ",") && call) call.argument++;
  });
  return open.findLast((call) => call !== null) ?? null;
}

/** Whether a place is inside of a text between quotes. */
export function isInText(text: string, at: number): boolean {
  const token = tokens(text).find(({ kind, from, to }) => kind === "text" && from < at && at <= to);
  return token !== undefined && !isClosed(text, token, at);
}

function isClosed(text: string, token: Token, at: number): boolean {
  return at === token.to && token.to - token.from > 1 && text[token.to - 1] === text[token.from];
}
