import {
  IconArrowsJoin,
  IconArrowsSplit,
  IconBox,
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
  IconSum,
  IconTable,
  IconTableImport,
  IconTerminal,
} from "@tabler/icons-react";

const ICONS: Record<string, typeof IconBox> = {
  "arrows-join": IconArrowsJoin,
  "arrows-split": IconArrowsSplit,
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
  sum: IconSum,
  table: IconTable,
  "table-import": IconTableImport,
  terminal: IconTerminal,
};

/** The picture of a step type, by the name the catalogue gives; a box for names not known here. */
export function StepIcon({ name, size = 15 }: { name: string; size?: number }) {
  const Icon = ICONS[name] ?? IconBox;
  return <Icon size={size} stroke={1.7} aria-hidden />;
}
