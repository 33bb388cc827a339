import { ActionIcon, Button, Input } from "@mantine/core";
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
} from "@rjsf/utils";
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { FormContext } from "./FormContext";
import { canInfer, InferColumns } from "./InferColumns";
import { isRelevant } from "./relevance";
import styles from "./StepForm.module.css";

/** One field; labels, help and errors belong to the widget inside. */
export function FieldTemplate({
  children,
  hidden,
  schema,
  fieldPathId,
  registry,
  rawErrors,
}: FieldTemplateProps) {
  const { type, config, kinds } = registry.formContext as FormContext;
  if (hidden || !isRelevant(type, fieldPathId.path, config, kinds)) return null;
  const wide = schema.format === "expression";
  return (
    <div data-field={fieldPathId.path.join(".")} data-wide={wide || undefined}>
      {children}
      {/* Widgets say what is wrong with them; an object as a whole has none. */}
      {schema.type === "object" &&
        rawErrors?.map((error) => (
          <Input.Error key={error} mt={4}>
            {error}
          </Input.Error>
        ))}
    </div>
  );
}

/** The fields of the form, of an object in it, or of one row of a list. */
export function ObjectFieldTemplate({
  properties,
  fieldPathId,
  title,
  schema,
}: ObjectFieldTemplateProps) {
  const path = fieldPathId.path;
  if (path.length === 0)
    return <div className={styles.form}>{properties.map((p) => p.content)}</div>;
  if (typeof path.at(-1) === "number")
    return <div className={styles.cells}>{properties.map((p) => p.content)}</div>;
  return (
    <fieldset
      id={fieldPathId.$id}
      tabIndex={-1}
      style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}
    >
      {properties.length > 1 && schema.properties && !repeats(schema, title) && (
        <Input.Label component="legend" size="xs" p={0} mb={schema.description ? 0 : 4}>
          {title}
        </Input.Label>
      )}
      {schema.description && <Input.Description mb={4}>{schema.description}</Input.Description>}
      <div className={properties.length > 2 ? styles.nested : styles.cells}>
        {properties.map((p) => p.content)}
      </div>
    </fieldset>
  );
}

/** A list of objects as compact rows. */
export function ArrayFieldTemplate({
  items,
  title,
  canAdd,
  onAddClick,
  schema,
  required,
  rawErrors,
  fieldPathId,
  registry,
}: ArrayFieldTemplateProps) {
  const { t } = useTranslation();
  const context = registry.formContext as FormContext;
  const infers = fieldPathId.path.join(".") === "columns" && canInfer(context);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out as the other fields
    <div
      role="group"
      aria-labelledby={`${fieldPathId.$id}-label`}
      id={fieldPathId.$id}
      tabIndex={-1}
    >
      <Input.Label component="div" size="xs" id={`${fieldPathId.$id}-label`} required={required}>
        {title}
      </Input.Label>
      {schema.description && <Input.Description mb={4}>{schema.description}</Input.Description>}
      <div className={styles.rows}>{items}</div>
      {rawErrors?.map((error) => (
        <Input.Error key={error} mt={4}>
          {error}
        </Input.Error>
      ))}
      <div className={styles.adding}>
        {canAdd && (
          <Button
            variant="subtle"
            size="compact-xs"
            leftSection={<IconPlus size={13} aria-hidden />}
            onClick={onAddClick}
          >
            {t("form.addTo", { list: title })}
          </Button>
        )}
        {infers && <InferColumns context={context} />}
      </div>
    </div>
  );
}

export function ArrayFieldItemTemplate({
  children,
  buttonsProps,
  index,
}: ArrayFieldItemTemplateProps) {
  const { t } = useTranslation();
  const { hasRemove, hasMoveUp, hasMoveDown, onRemoveItem, onMoveUpItem, onMoveDownItem } =
    buttonsProps;
  const number = index + 1;
  return (
    <div className={styles.row}>
      {children}
      {hasMoveUp && (
        <ActionIcon
          size="sm"
          className={styles.handle}
          aria-label={t("form.moveUp", { number })}
          onClick={onMoveUpItem}
        >
          <IconArrowUp size={13} />
        </ActionIcon>
      )}
      {hasMoveDown && !hasMoveUp && (
        <ActionIcon
          size="sm"
          className={styles.handle}
          aria-label={t("form.moveDown", { number })}
          onClick={onMoveDownItem}
        >
          <IconArrowDown size={13} />
        </ActionIcon>
      )}
      {hasRemove && (
        <ActionIcon
          size="sm"
          className={styles.handle}
          aria-label={t("form.remove", { number })}
          onClick={onRemoveItem}
        >
          <IconTrash size={13} />
        </ActionIcon>
      )}
    </div>
  );
}

/** Errors stand in the widgets. */
export function FieldErrorTemplate() {
  return null;
}

/** Whether the first field of an object is called as the object itself. */
function repeats(schema: { properties?: object }, title: string): boolean {
  const [first] = Object.values(schema.properties ?? {}) as { title?: string }[];
  return first?.title === title;
}
