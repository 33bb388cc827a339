import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { SQLDialect } from "@codemirror/lang-sql";
import type { KnownColumn } from "../FormContext";
import { FUNCTIONS } from "./functions";

const WORDS = [
  "and",
  "or",
  "not",
  "is",
  "null",
  "in",
  "like",
  "rlike",
  "between",
  "case",
  "when",
  "then",
  "else",
  "end",
  "cast",
  "as",
  "true",
  "false",
  "interval",
];

// What a whole query has besides.
const QUERY_WORDS = "select distinct from where inner left join on using union all".split(" ");

export const SPARK = SQLDialect.define({
  keywords: [...WORDS, ...QUERY_WORDS].join(" "),
  types: "string int bigint double float decimal boolean timestamp date binary array map struct",
  backslashEscapes: true,
  operatorChars: "*+-%<>!=&|~/",
  identifierQuotes: "`",
});

/**
 * Complete the columns that flow in, then Spark's functions with their arguments, then words; in a
 * whole query also the inputs it can read.
 */
export function completeSql(columns: KnownColumn[], inputs?: string[]) {
  const words = inputs ? [...WORDS, ...QUERY_WORDS] : WORDS;
  const options: Completion[] = [
    ...(inputs ?? []).map((name) => ({
      label: name,
      apply: quoted(name),
      type: "class",
      boost: 3,
    })),
    ...columns.map(({ name, type }) => ({
      label: name,
      apply: quoted(name),
      detail: type ?? undefined,
      type: "property",
      boost: name.startsWith("_") ? 1 : 2,
    })),
    ...FUNCTIONS.map(([name, args, help]) => ({
      label: name,
      apply: args === "" ? `${name}()` : `${name}(`,
      detail: `(${args})`,
      info: help,
      type: "function",
    })),
    ...words.map((word) => ({ label: word, type: "keyword", boost: -1 })),
  ];
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w`]+/);
    if (!word && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options, validFor: /^[\w`]*$/ };
  };
}

/** A column's name as an expression says it. */
export function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}
