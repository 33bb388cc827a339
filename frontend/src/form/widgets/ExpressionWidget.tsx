import { Input } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { lazy, Suspense } from "react";
import type { FormContext } from "../FormContext";
import styles from "../StepForm.module.css";
import { fieldProps, placeholderOf } from "./fieldProps";

const SqlEditor = lazy(() => import("./SqlEditor"));

/** A Spark SQL expression over the columns that flow in. */
export function ExpressionWidget(props: WidgetProps) {
  const { id, label, description, error, withAsterisk, "aria-label": aria } = fieldProps(props);
  const { columns } = props.registry.formContext as FormContext;
  const value = String(props.value ?? "");
  return (
    <Input.Wrapper
      id={id}
      label={label}
      description={description}
      error={error}
      withAsterisk={withAsterisk}
      size="xs"
      labelElement="div"
    >
      <div className={styles.editor} data-invalid={error !== undefined}>
        <Suspense fallback={<div style={{ height: 27 }} />}>
          <SqlEditor
            id={id}
            label={aria ?? label ?? ""}
            value={value}
            columns={columns}
            placeholder={placeholderOf(props)}
            invalid={error !== undefined}
            onChange={(next) => props.onChange(next || undefined)}
          />
        </Suspense>
      </div>
    </Input.Wrapper>
  );
}
