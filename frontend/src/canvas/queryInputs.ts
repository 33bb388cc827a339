const WORDS = new Set(
  "anti cross full group having inner join lateral left limit natural on order outer right select semi set union using values where window".split(
    " ",
  ),
);
// What ends a list of inputs that commas part.
const ENDS = new Set("group having limit on order union using values where window".split(" "));
// Texts between quotes, names between backticks, words and single signs, as a query has them.
const TOKEN = /'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|`((?:[^`]|``)*)`|[\p{L}_][\p{L}\p{N}_]*|\S/gsu;

/**
 * The inputs a query reads: the names after FROM and JOIN, in order, each once.
 *
 * It takes queries that are still being typed. A FROM counts only behind a SELECT of its own, for
 * `extract(year from at)` and `a is distinct from b` have one, too.
 */
export function queryInputs(query: string): string[] {
  const tokens = [...query.matchAll(TOKEN)].map(([text, quoted]) => ({
    text: quoted === undefined ? text : quoted.replaceAll("``", "`"),
    word: quoted === undefined ? text.toLowerCase() : null,
  }));
  const names: string[] = [];
  // By depth of parentheses: whether a SELECT waits for its FROM, or its list of inputs goes on.
  const selects: ("select" | "from" | null)[] = [null];
  tokens.forEach(({ word }, i) => {
    const at = selects.length - 1;
    if (word === "(") selects.push(null);
    else if (word === ")") selects.splice(Math.max(at, 1));
    else if (word === "select") selects[at] = "select";
    else if (word === "from" && selects[at] === "select" && !isDistinct(i)) {
      selects[at] = "from";
      addName(i + 1);
    } else if (word === "join") addName(i + 1);
    else if (word === "," && selects[at] === "from") addName(i + 1);
    else if (ENDS.has(word ?? "")) selects[at] = null;
  });

  function isDistinct(i: number): boolean {
    const before = tokens[i - 2]?.word;
    return tokens[i - 1]?.word === "distinct" && (before === "is" || before === "not");
  }

  function addName(i: number) {
    const token = tokens[i];
    const isName = token && (token.word === null || /^[\p{L}_]/u.test(token.word));
    if (!isName || WORDS.has(token.word ?? "") || tokens[i + 1]?.word === "(") return;
    if (!names.includes(token.text)) names.push(token.text);
  }

  return names;
}
