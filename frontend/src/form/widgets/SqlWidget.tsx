import type { WidgetProps } from "@rjsf/utils";
import { lazy } from "react";
import type { FormContext } from "../FormContext";
import { EditorFrame, editorProps } from "./EditorFrame";
import { placeholderOf } from "./fieldProps";

const SqlEditor = lazy(() => import("./SqlEditor"));

/** A whole query: as an expression, with the inputs to read from, too. */
export function SqlWidget(props: WidgetProps) {
  const { columns, byPort } = props.registry.formContext as FormContext;
  return (
    <EditorFrame field={props} size="tall">
      <SqlEditor
        {...editorProps(props)}
        columns={columns}
        inputs={byPort}
        placeholder={placeholderOf(props)}
      />
    </EditorFrame>
  );
}
