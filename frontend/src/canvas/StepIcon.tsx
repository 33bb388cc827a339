import {
  IconArrowsJoin,
  IconArrowsMinimize,
  IconArrowsRight,
  IconArrowsSplit,
  IconBox,
  IconBrandPython,
  IconBroadcast,
  IconCode,
  IconColumns,
  IconCopyOff,
  IconDatabase,
  IconDatabaseExport,
  IconDatabaseImport,
  IconEye,
  IconFile,
  IconFilter,
  IconGitBranch,
  IconGitMerge,
  IconKey,
  IconSparkles,
  IconSql,
  IconSum,
  IconTable,
  IconTableDown,
  IconTableImport,
  IconTerminal,
} from "@tabler/icons-react";

/** By the names that the catalogue gives. */
export const ICONS: Record<string, typeof IconBox> = {
  "arrows-join": IconArrowsJoin,
  "arrows-minimize": IconArrowsMinimize,
  "arrows-right": IconArrowsRight,
  "arrows-split": IconArrowsSplit,
  "brand-python": IconBrandPython,
  broadcast: IconBroadcast,
  code: IconCode,
  columns: IconColumns,
  "copy-off": IconCopyOff,
  database: IconDatabase,
  "database-export": IconDatabaseExport,
  "database-import": IconDatabaseImport,
  eye: IconEye,
  file: IconFile,
  filter: IconFilter,
  "git-branch": IconGitBranch,
  "git-merge": IconGitMerge,
  key: IconKey,
  sparkles: IconSparkles,
  sql: IconSql,
  sum: IconSum,
  table: IconTable,
  "table-down": IconTableDown,
  "table-import": IconTableImport,
  terminal: IconTerminal,
};

/** The picture of a step type, by the name the catalogue gives; a box for names not known here. */
export function StepIcon({ name, size = 15 }: { name: string; size?: number }) {
  const Icon = ICONS[name] ?? IconBox;
  return <Icon size={size} stroke={1.7} aria-hidden />;
}
