import { aliasesOf, type ColumnToken, columnTokens, quoted, type Token, tokens } from "./sqlTokens";

/** By old name in lower case, as Spark does not tell them apart, the new name. */
export type Renames = Map<string, string>;

/** An expression with its columns renamed. */
export function renameInText(text: string, renames: Renames): string {
  return replaced(text, columnTokens(text), ({ name }) => renames.get(name.toLowerCase()));
}

/** A query with its columns renamed; `byPort` are the renames in each of its inputs. */
export function renameInQuery(
  query: string,
  all: Renames,
  byPort: Record<string, Renames>,
): string {
  return parts(query)
    .map(({ text }) => {
      const found = columnTokens(text, aliasesOf(text));
      return replaced(text, found, (token) =>
        renamesOf(text, token, all, byPort).get(lower(token)),
      );
    })
    .join("");
}

/** The renames among the columns that a query gives: of those it takes over by their own name. */
export function renamesOfQuery(
  query: string,
  all: Renames,
  byPort: Record<string, Renames>,
): Renames {
  const text = parts(query)[0]?.text ?? "";
  const columns = new Map(columnTokens(text, aliasesOf(text)).map((token) => [token.from, token]));
  const result: Renames = new Map();
  const given = new Set<string>();
  for (const item of selected(text)) {
    const last = item.at(-1);
    if (!last) continue;
    const column = columns.get(last.from);
    if (last.name === "*") for (const [name, to] of all) result.set(name, to);
    else if (!column || (item.length !== 1 && column.input === null)) given.add(lower(last));
    else {
      const to = renamesOf(text, column, all, byPort).get(lower(column));
      if (to !== undefined) result.set(lower(column), to);
    }
  }
  for (const name of given) result.delete(name);
  return result;
}

/** Queries that UNION puts together read inputs of their own; each part ends with its UNION. */
function parts(query: string): { text: string }[] {
  const ends = tokens(query)
    .filter(({ kind, name }) => kind === "word" && name.toLowerCase() === "union")
    .map(({ to }) => to);
  return [0, ...ends].map((from, i) => ({ text: query.slice(from, ends[i] ?? query.length) }));
}

function renamesOf(
  text: string,
  { input }: ColumnToken,
  all: Renames,
  byPort: Record<string, Renames>,
): Renames {
  if (input !== null) return byPort[input] ?? new Map();
  const inputs = new Set(aliasesOf(text).values());
  const read = Object.entries(byPort).filter(([port]) => inputs.has(port));
  return read.length > 0 ? new Map(read.flatMap(([, renames]) => [...renames])) : all;
}

/** What stands between SELECT and its FROM, cut at the commas. */
function selected(text: string): Token[][] {
  const found: Token[][] = [[]];
  let depth = 0;
  let begun = false;
  for (const token of tokens(text)) {
    const word = token.kind === "word" ? token.name.toLowerCase() : token.name;
    if (!begun) {
      begun = word === "select";
      continue;
    }
    if (depth === 0 && word === "from") break;
    if (word === "(") depth++;
    if (word === ")") depth--;
    if (depth === 0 && word === ",") found.push([]);
    else found.at(-1)?.push(token);
  }
  return found;
}

function replaced(
  text: string,
  found: ColumnToken[],
  nameOf: (token: ColumnToken) => string | undefined,
): string {
  let result = "";
  let at = 0;
  for (const token of found) {
    const name = nameOf(token);
    if (name === undefined) continue;
    result += text.slice(at, token.from) + quoted(name);
    at = token.to;
  }
  return result + text.slice(at);
}

function lower({ name }: Token): string {
  return name.toLowerCase();
}
