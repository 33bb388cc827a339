interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** Stands for an editor in tests. */
export default function TestEditor({ label, value, onChange }: Props) {
  return <textarea aria-label={label} value={value} onChange={(e) => onChange(e.target.value)} />;
}
