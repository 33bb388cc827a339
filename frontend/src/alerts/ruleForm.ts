import type { MeasureOut, RuleIn, RuleOut } from "../api/client";

export const UNITS = { s: 1, min: 60, h: 3600 };
export type Unit = keyof typeof UNITS;
export const PLACES = ["everything", "folder", "pipeline", "deployment"] as const;
export type Place = (typeof PLACES)[number];
export type MeasureName = MeasureOut["name"];

/** A rule while it is being written. */
export interface RuleForm {
  name: string;
  measure: MeasureName;
  threshold: number | "";
  amount: number | "";
  unit: Unit;
  severity: RuleIn["severity"];
  isOn: boolean;
  place: Place;
  folder: string;
  pipeline: string;
  deployment: string;
  webhook: string;
  secret: string;
  /** Whether the secret that is set is to go. */
  unsign: boolean;
  emails: string[];
}

/** What the form shows of a rule, or of a new one. */
export function formOf(rule?: RuleOut): RuleForm {
  return {
    name: rule?.name ?? "",
    measure: rule?.measure ?? "lag_seconds",
    threshold: rule ? (rule.threshold ?? "") : 60,
    ...durationOf(rule?.seconds ?? 120),
    severity: rule?.severity ?? "warning",
    isOn: rule?.is_on ?? true,
    place: placeOf(rule),
    folder: rule?.folder ?? "",
    pipeline: rule?.pipeline?.id ?? "",
    deployment: rule?.deployment?.id ?? "",
    webhook: rule?.webhook ?? "",
    secret: "",
    unsign: false,
    emails: rule?.emails ?? [],
  };
}

/** What the form asks of the API. */
export function bodyOf(form: RuleForm, measure: MeasureOut | undefined): RuleIn {
  const { place } = form;
  return {
    name: form.name.trim(),
    measure: form.measure,
    threshold: measure?.takes_threshold && form.threshold !== "" ? form.threshold : null,
    seconds: Math.round(Number(form.amount) * UNITS[form.unit]),
    severity: form.severity,
    is_on: form.isOn,
    folder: place === "folder" ? form.folder.trim() : "",
    pipeline: place === "pipeline" ? form.pipeline : null,
    deployment: place === "deployment" ? form.deployment : null,
    webhook: form.webhook.trim(),
    webhook_secret: form.secret || (form.unsign ? "" : null),
    emails: form.emails.map((email) => email.trim()).filter(Boolean),
  };
}

/** Whether a place is chosen of the kind that the form says. */
export function hasPlace(form: RuleForm): boolean {
  return form.place === "everything" || form[form.place].trim() !== "";
}

/** Seconds in the largest unit that says them as a whole number. */
export function durationOf(seconds: number): { amount: number; unit: Unit } {
  const unit = (["h", "min"] as const).find((u) => seconds > 0 && seconds % UNITS[u] === 0) ?? "s";
  return { amount: seconds / UNITS[unit], unit };
}

function placeOf(rule?: RuleOut): Place {
  if (rule?.deployment) return "deployment";
  if (rule?.pipeline) return "pipeline";
  return rule?.folder ? "folder" : "everything";
}
