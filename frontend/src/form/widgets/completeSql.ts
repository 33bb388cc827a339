import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippetCompletion,
} from "@codemirror/autocomplete";
import { SQLDialect } from "@codemirror/lang-sql";
import type { KnownColumn } from "../FormContext";
import { aliasesOf, isInText, quoted } from "../sqlTokens";
import { functionDoc } from "./functionDoc";
import { neededArguments, type SqlFunction } from "./functions";
import { fieldsAt } from "./structFields";

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

/** What an expression can be made of. */
export interface Known {
  columns: KnownColumn[];
  functions: SqlFunction[];
  /** In a whole query, what it can read from: the columns by input. */
  inputs?: Record<string, KnownColumn[]>;
}

const NAME = "(?:`(?:[^`]|``)*`|[\\p{L}_][\\p{L}\\p{N}_]*)";
const PATH = new RegExp(`(?:${NAME}\\.)+[\\p{L}\\p{N}_]*`, "u");

/**
 * Complete the columns that flow in (those that a source adds by itself last), the fields of a
 * struct behind its dot, Spark's functions with their arguments, and words; in a whole query also
 * the inputs it can read. Nothing is offered inside of a text.
 */
export function completeSql(known: () => Known) {
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.state.doc.toString();
    if (isInText(text, context.pos)) return null;
    const path = context.matchBefore(PATH);
    if (path) return fieldsBehind(path.text, path.to, known(), text);
    const word = context.matchBefore(/[\p{L}\p{N}_`]+/u);
    if (!word && !context.explicit) return null;
    if (word && /^\d/.test(word.text)) return null;
    const from = word?.from ?? context.pos;
    return { from, options: options(known()), validFor: /^[\p{L}\p{N}_`]*$/u };
  };
}

function options({ columns, functions, inputs }: Known): Completion[] {
  const words = inputs ? [...WORDS, ...QUERY_WORDS] : WORDS;
  return [
    ...Object.keys(inputs ?? {}).map((name) => ({
      label: name,
      apply: quoted(name),
      type: "class",
      boost: 3,
    })),
    ...columns.map(column),
    ...functions.map(called),
    ...words.map((word) => ({ label: word, type: "keyword", boost: -1 })),
  ];
}

/** The fields of a struct, or in a query the columns of an input, that a path leads to. */
function fieldsBehind(
  path: string,
  to: number,
  { columns, inputs }: Known,
  text: string,
): CompletionResult | null {
  const parts = path.match(new RegExp(NAME, "gu")) ?? [];
  const owners = (path.endsWith(".") ? parts : parts.slice(0, -1)).map(plain);
  const [first = "", ...rest] = owners;
  const input = inputs?.[aliasesOf(text).get(first.toLowerCase()) ?? first];
  const found = input ? fieldsAt(input, rest) : fieldsAt(columns, owners);
  if (found.length === 0) return null;
  const from = to - (path.length - path.lastIndexOf(".") - 1);
  return { from, options: found.map(column), validFor: /^[\p{L}\p{N}_]*$/u };
}

function column({ name, type }: KnownColumn): Completion {
  const detail = type ?? undefined;
  const boost = name.startsWith("_") ? -50 : 20;
  return { label: name, apply: quoted(name), detail, type: "property", boost };
}

function called(described: SqlFunction): Completion {
  const { name, signature } = described;
  const takes = signature.startsWith(`${name}(`) ? neededArguments(signature) : ["expr"];
  const fields = takes.map((argument) => `\${${argument}}`).join(", ");
  return snippetCompletion(`${name}(${fields})\${}`, {
    label: name,
    detail: signature.startsWith(name) ? signature.slice(name.length) : signature,
    info: () => functionDoc(described),
    type: "function",
  });
}

function plain(name: string): string {
  return name.startsWith("`") ? name.slice(1, -1).replaceAll("``", "`") : name;
}
