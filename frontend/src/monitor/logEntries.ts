export const LEVELS = ["all", "warnings", "errors"] as const;
export type Level = (typeof LEVELS)[number];

/** What one statement wrote: its line, and those below it that belong to it, as a stack does. */
export interface LogEntry {
  level: "info" | "warning" | "error";
  lines: string[];
  /** What Spark and Java say of themselves while nothing is wrong. */
  isNoise: boolean;
}

// Spark writes `26/11/22 13:30:20 WARN Executor: …`, Python's logging `WARNING: …`.
const BEGINS =
  /^(?:\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\S+)?\s*(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b/;
const OF_SPARK =
  /^\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d (TRACE|DEBUG|INFO|WARN) |^WARNING: (Using incubator|package|A (Java agent|terminally))|^(Using Spark's default log4j|Setting default log level|To adjust logging level)/;
const STACK = /^(?:\s|Caused by: |\.\.\. \d+ more)/;
const PYTHON_STACK = /^Traceback \(most recent call last\):/;
const PYTHON_ERROR = /^[\w.]+(?:Error|Exception|Interrupt)\b/;
const JAVA_ERROR = /^(?:[a-z]\w*\.)+[A-Z]\w*(?:Error|Exception)\b/;

/** The lines of a log as what was written at a time, each with how bad it is. */
export function logEntries(lines: string[]): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const line of lines) {
    const last = entries.at(-1);
    const level = levelOf(line);
    if (last && belongs(line, last, level)) last.lines.push(line);
    else entries.push({ level: level ?? "info", lines: [line], isNoise: OF_SPARK.test(line) });
  }
  return entries;
}

/** The entries as bad as wanted that have the words, whatever their case. */
export function matching(entries: LogEntry[], level: Level, words: string): LogEntry[] {
  const wanted = words.trim().toLowerCase();
  return entries.filter(
    (entry) =>
      (level === "all" ||
        entry.level === "error" ||
        (level === "warnings" && entry.level === "warning")) &&
      (wanted === "" || entry.lines.some((line) => line.toLowerCase().includes(wanted))),
  );
}

/** The entries with the noise between others put together; a list stands for what is folded. */
export function folded(entries: LogEntry[]): (LogEntry | LogEntry[])[] {
  const items: (LogEntry | LogEntry[])[] = [];
  for (const entry of entries) {
    const last = items.at(-1);
    if (!entry.isNoise) items.push(entry);
    else if (Array.isArray(last)) last.push(entry);
    else items.push([entry]);
  }
  return items;
}

/** What matters most of a long entry: its first line, and for a stack what it came from. */
export function gist({ lines }: LogEntry): string[] {
  const first = lines[0] ?? "";
  const said = PYTHON_STACK.test(first)
    ? lines.findLast((line) => PYTHON_ERROR.test(line))
    : lines.findLast((line) => line.startsWith("Caused by: "));
  return said ? [first, said] : [first];
}

function levelOf(line: string): LogEntry["level"] | null {
  const said = BEGINS.exec(line)?.[1];
  if (said === "WARN" || said === "WARNING") return "warning";
  if (said === "ERROR" || said === "FATAL" || said === "CRITICAL") return "error";
  if (said) return "info";
  return PYTHON_STACK.test(line) || JAVA_ERROR.test(line) ? "error" : null;
}

function belongs(line: string, last: LogEntry, level: LogEntry["level"] | null): boolean {
  if (BEGINS.test(line)) return false;
  if (STACK.test(line)) return true;
  const isStack = PYTHON_STACK.test(last.lines[0] ?? "");
  if (isStack) return PYTHON_ERROR.test(line) || line === "";
  // An exception stands on the line below what logged it.
  return level === "error" && last.level !== "info" && JAVA_ERROR.test(line);
}
