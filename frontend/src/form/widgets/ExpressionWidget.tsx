import type { WidgetProps } from "@rjsf/utils";
import { lazy } from "react";
import type { FormContext, KnownColumn } from "../FormContext";
import { EditorFrame, editorProps } from "./EditorFrame";
import { placeholderOf } from "./fieldProps";

const SqlEditor = lazy(() => import("./SqlEditor"));

// What expressions of a step may use besides the columns that flow in, by step type and field.
const BESIDES: Record<string, KnownColumn[]> = {
  "reduce.expression": [{ name: "acc", type: null }],
  "sample_source.expression": [
    { name: "value", type: "bigint" },
    { name: "timestamp", type: "timestamp" },
  ],
};

/** A Spark SQL expression over the columns that flow in. */
export function ExpressionWidget(props: WidgetProps) {
  const { columns, type } = props.registry.formContext as FormContext;
  const besides = BESIDES[`${type}.${props.name}`];
  return (
    <EditorFrame field={props} size="line">
      <SqlEditor
        {...editorProps(props)}
        columns={besides ? [...besides, ...columns] : columns}
        placeholder={placeholderOf(props)}
      />
    </EditorFrame>
  );
}
