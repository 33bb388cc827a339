import { Button } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { lazy } from "react";
import { useTranslation } from "react-i18next";
import { EditorFrame, editorProps } from "./EditorFrame";

const CodeEditor = lazy(() => import("./CodeEditor"));

/** Python, with an example to begin with where the schema has one. */
export function CodeWidget(props: WidgetProps) {
  const { t } = useTranslation();
  const { sentences: _, ...code } = editorProps(props);
  const example = Array.isArray(props.schema.examples) ? props.schema.examples[0] : undefined;
  return (
    <>
      <EditorFrame field={props} size="code">
        <CodeEditor {...code} />
      </EditorFrame>
      {!props.value && typeof example === "string" && (
        <Button variant="subtle" size="compact-xs" mt={4} onClick={() => props.onChange(example)}>
          {t("form.example")}
        </Button>
      )}
    </>
  );
}
