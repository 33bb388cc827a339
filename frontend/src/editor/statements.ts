/** A part of a program, by its first and last line, counted from 1. */
export interface Lines {
  from: number;
  to: number;
}

const NAME = /^(?:def |class )?([a-z]\w*)(?: = |\()/;

/**
 * The statements of a program that a step stands for: those named after it, else (where it shares
 * a query with others) the one that counts its rows.
 */
export function statementsOf(script: string, step: string, steps: string[]): Lines[] {
  const all = statements(script);
  const named = all.filter(({ name }) => name !== null && stepOf(name, steps) === step);
  if (named.length > 0) return named;
  const lines = script.split("\n");
  return all.filter(({ from, to }) =>
    lines.slice(from - 1, to).some((line) => line.includes(`observe("${step}"`)),
  );
}

/** The step that a variable or function of the program belongs to: `views_records` to `views`. */
function stepOf(name: string, steps: string[]): string | undefined {
  if (steps.includes(name)) return name;
  if (name.startsWith("write_") && steps.includes(name.slice(6))) return name.slice(6);
  return steps.filter((step) => name.startsWith(`${step}_`)).sort((a, b) => b.length - a.length)[0];
}

/** What begins at the left edge, down to where the next does, with the comment above it. */
function statements(script: string): (Lines & { name: string | null })[] {
  const found: (Lines & { name: string | null })[] = [];
  let comment: number | null = null;
  script.split("\n").forEach((line, i) => {
    const number = i + 1;
    const last = found.at(-1);
    if (line.trim() === "") return;
    if (line.startsWith("#")) {
      comment ??= number;
      return;
    }
    const goesOn = /^[\s)\]}]/.test(line) && comment === null;
    if (goesOn && last) last.to = number;
    else {
      found.push({ name: NAME.exec(line)?.[1] ?? null, from: comment ?? number, to: number });
      comment = null;
    }
  });
  return found;
}
