import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { readMistake } from "../mistake";

interface Props {
  sentences: string[];
  /** The value of the field with a name in it replaced; null where it does not have that name. */
  mend: (wrong: string, right: string) => unknown;
  onMend: (value: unknown) => void;
}

/** What is wrong with a field; what was perhaps meant is one click away. */
export function Sentences({ sentences, mend, onMend }: Props) {
  return sentences.map((sentence) => {
    const mistake = readMistake(sentence);
    const right = mistake?.right;
    const mended = mistake && right ? mend(mistake.wrong, right) : null;
    return (
      <span key={sentence} style={{ display: "block" }}>
        {sentence}{" "}
        {mended !== null && right && <UseSuggestion name={right} onUse={() => onMend(mended)} />}
      </span>
    );
  });
}

/** Takes what was perhaps meant. */
export function UseSuggestion({ name, onUse }: { name: string; onUse: () => void }) {
  const { t } = useTranslation();
  return (
    <Button
      variant="light"
      size="compact-xs"
      my={2}
      style={{ flex: "none" }}
      data-testid="use-suggestion"
      onClick={onUse}
    >
      {t("form.use", { name })}
    </Button>
  );
}
