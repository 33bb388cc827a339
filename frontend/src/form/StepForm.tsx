import { withTheme } from "@rjsf/core";
import { Theme } from "@rjsf/mantine";
import type { ErrorSchema } from "@rjsf/utils";
import { useMemo } from "react";
import type { Config } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import type { Problem } from "../api/types";
import type { FormContext } from "./FormContext";
import { fieldAt, formSchema, uiSchema } from "./formSchema";
import { noValidation } from "./noValidation";
import { prune } from "./prune";
import { withoutLost } from "./relevance";
import {
  ArrayFieldItemTemplate,
  ArrayFieldTemplate,
  FieldErrorTemplate,
  FieldTemplate,
  ObjectFieldTemplate,
} from "./templates";
import { ChoiceWidget } from "./widgets/ChoiceWidget";
import { CodeWidget } from "./widgets/CodeWidget";
import { ColumnsWidget } from "./widgets/ColumnsWidget";
import { ColumnTypeWidget } from "./widgets/ColumnTypeWidget";
import { ColumnWidget } from "./widgets/ColumnWidget";
import { ConnectionWidget } from "./widgets/ConnectionWidget";
import { DurationWidget } from "./widgets/DurationWidget";
import { ExpressionWidget } from "./widgets/ExpressionWidget";
import { NumberWidget } from "./widgets/NumberWidget";
import { OptionsWidget } from "./widgets/OptionsWidget";
import { SqlWidget } from "./widgets/SqlWidget";
import { StartWidget } from "./widgets/StartWidget";
import { SwitchWidget } from "./widgets/SwitchWidget";
import { TextWidget } from "./widgets/TextWidget";
import { TopicsWidget } from "./widgets/TopicsWidget";
import { TopicWidget } from "./widgets/TopicWidget";

const Form = withTheme<Config>(Theme as never);
const NOTHING = <></>;

const WIDGETS = {
  choice: ChoiceWidget,
  code: CodeWidget,
  column: ColumnWidget,
  "column-type": ColumnTypeWidget,
  columns: ColumnsWidget,
  connection: ConnectionWidget,
  duration: DurationWidget,
  expression: ExpressionWidget,
  options: OptionsWidget,
  sql: SqlWidget,
  start: StartWidget,
  topic: TopicWidget,
  topics: TopicsWidget,
  TextWidget,
  UpDownWidget: NumberWidget,
  CheckboxWidget: SwitchWidget,
};

const TEMPLATES = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  FieldErrorTemplate,
};

interface Props {
  type: StepType;
  config: Config;
  problems: Problem[];
  context: Omit<FormContext, "begins" | "change" | "config" | "type">;
  onChange: (config: Config, field: string) => void;
}

/** The DOM id of a field of the form, by its path: `columns.0.type`. */
export function fieldId(path: string): string {
  return `field.${path}`;
}

/** The form of a step, from its type's JSON Schema; problems stand under their fields. */
export function StepForm({ type, config, problems, context, onChange }: Props) {
  const schema = useMemo(() => formSchema(type.schema), [type]);
  const ui = useMemo(() => uiSchema(schema), [schema]);
  const errors = useMemo(() => errorSchema(schema, problems), [schema, problems]);
  const begins = type.inputs.length === 0;
  const known = { ...context, type: type.type, begins, config, change: onChange };
  return (
    <Form
      key={type.type}
      tagName="div"
      schema={schema}
      uiSchema={ui}
      validator={noValidation as never}
      formData={config}
      formContext={known satisfies FormContext as never}
      extraErrors={errors as ErrorSchema<Config>}
      widgets={WIDGETS as never}
      templates={TEMPLATES as never}
      idPrefix="field"
      idSeparator="."
      showErrorList={false}
      noHtml5Validate
      experimental_defaultFormStateBehavior={{
        emptyObjectFields: "skipDefaults",
        arrayMinItems: { populate: "never" },
      }}
      onChange={({ formData }, id) =>
        onChange(withoutLost(type.type, config, prune(formData ?? {})), id ?? "")
      }
    >
      {NOTHING}
    </Form>
  );
}

/** The problems that name a field of the form, in the nested shape that rjsf wants. */
export function errorSchema(schema: StepType["schema"], problems: Problem[]): ErrorSchema {
  const errors: ErrorSchema = {};
  for (const { field, message } of problems) {
    const path = field === null ? null : fieldAt(schema, field);
    if (path === null) continue;
    let at = errors as Record<string, ErrorSchema>;
    for (const part of path.split(".")) {
      at[part] ??= {};
      at = at[part] as Record<string, ErrorSchema>;
    }
    const found = (at as ErrorSchema).__errors ?? [];
    (at as ErrorSchema).__errors = [...found, message];
  }
  return errors;
}

/** The problems that no field of the form can show. */
export function fieldless(schema: StepType["schema"], problems: Problem[]): Problem[] {
  const fields = formSchema(schema);
  return problems.filter(({ field }) => field === null || fieldAt(fields, field) === null);
}
