import { useQuery } from "@tanstack/react-query";
import { type FunctionOut, listFunctions } from "../../api/client";

export type SqlFunction = FunctionOut;

const NONE: SqlFunction[] = [];
// Those that look at many rows; aggregate steps offer them, expressions can't call them.
const AGGREGATES = "agg_funcs";

/** The functions that expressions may call, in the words of Spark. */
export function useFunctions(): SqlFunction[] {
  return useAll((f) => f.group !== AGGREGATES);
}

/** The functions that aggregate steps offer. */
export function useAggregates(): SqlFunction[] {
  return useAll((f) => f.group === AGGREGATES);
}

function useAll(wanted: (f: SqlFunction) => boolean): SqlFunction[] {
  const { data } = useQuery({
    queryKey: ["functions"],
    queryFn: () => listFunctions(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.filter(wanted) ?? NONE;
}

/** The arguments of a signature: `["str", "pos[, len"]` is told apart where commas stand. */
export function argumentsOf(signature: string): string[] {
  const inside = /^[^(]*\((.*)\)[^)]*$/s.exec(signature)?.[1] ?? "";
  const found: string[] = [];
  let at = "";
  let depth = 0;
  for (const char of inside) {
    if (char === "(" || char === "<") depth++;
    if (char === ")" || char === ">") depth--;
    if (char === "," && depth === 0) {
      found.push(at);
      at = "";
    } else at += char;
  }
  if (at.trim() !== "") found.push(at);
  return found;
}

/** The arguments that must be given, by names that a template can hold. */
export function neededArguments(signature: string): string[] {
  const needed = signature.replace(/\s*\[.*\](?=\)|$)/s, "");
  return argumentsOf(needed)
    .map((argument) => argument.replace(/[^\w ]/g, "").trim())
    .filter((argument) => argument !== "");
}
