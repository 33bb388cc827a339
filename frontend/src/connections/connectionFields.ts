import type { ConnectionIn, ConnectionOut } from "../api/client";
import type { en } from "../i18n/en";

export type ConnectionType = ConnectionOut["type"];

export const TYPES: ConnectionType[] = ["kafka", "postgresql", "files", "schema_registry"];

type FieldName = keyof typeof en.connections.fields;

/** A field of the form: what the type's settings and secrets call it, and how it is asked for. */
export interface Field {
  name: FieldName;
  /** There is more to say of it than its name. */
  help?: keyof typeof en.connections.help;
  kind: "text" | "number" | "password" | "pem" | readonly string[];
  required?: boolean;
  /** It goes in and never comes out. */
  secret?: boolean;
}

/** What a person has written so far. */
export interface Written {
  name: string;
  type: ConnectionType;
  fields: Record<string, string>;
}

const PROTOCOLS = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] as const;
const MECHANISMS = ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"] as const;
const SSL_MODES = ["prefer", "require", "verify-full", "disable"] as const;
const SERVERS = "bootstrap_servers";

/** The fields that mean something, as the others are. */
export function fieldsOf({ type, fields }: Pick<Written, "type" | "fields">): Field[] {
  switch (type) {
    case "kafka":
      return fieldsOfKafka(fields);
    case "postgresql":
      return [
        { name: "host", kind: "text", required: true },
        { name: "port", kind: "number", help: "port" },
        { name: "database", kind: "text", required: true },
        { name: "user", kind: "text", required: true },
        { name: "password", kind: "password", secret: true },
        { name: "sslmode", kind: SSL_MODES },
      ];
    case "files":
      return [{ name: "folder", kind: "text", required: true, help: "folder" }];
    case "schema_registry":
      return [
        { name: "url", kind: "text", required: true, help: "url" },
        { name: "user", kind: "text" },
        ...(fields.user ? [{ name: "password", kind: "password", secret: true } as const] : []),
      ];
  }
}

function fieldsOfKafka(fields: Record<string, string>): Field[] {
  const protocol = fields.security_protocol ?? "PLAINTEXT";
  const shown: Field[] = [
    { name: SERVERS, kind: "text", required: true, help: SERVERS },
    { name: "security_protocol", kind: PROTOCOLS },
  ];
  if (protocol.startsWith("SASL_")) {
    shown.push(
      { name: "sasl_mechanism", kind: MECHANISMS },
      { name: "username", kind: "text", required: true },
      { name: "password", kind: "password", secret: true },
    );
  }
  if (protocol.endsWith("SSL")) {
    shown.push(
      { name: "ca_certificate", kind: "pem", help: "ca_certificate" },
      { name: "client_certificate", kind: "pem", help: "client_certificate" },
    );
    if (fields.client_certificate) {
      shown.push({ name: "client_key", kind: "pem", secret: true, help: "client_key" });
    }
  }
  return shown;
}

/** What a form begins with: a connection as it is, or a new one. */
export function writtenOf(connection?: ConnectionOut): Written {
  if (!connection) return { name: "", type: "kafka", fields: {} };
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(connection.settings)) fields[name] = String(value);
  if (connection.type === "kafka") fields[SERVERS] = connection.bootstrap_servers;
  return { name: connection.name, type: connection.type, fields };
}

/** What the server is asked for: only what means something, and of secrets only new ones. */
export function bodyOf(written: Written): ConnectionIn {
  const settings: Record<string, unknown> = {};
  const secrets: Record<string, string> = {};
  for (const { name, kind, secret } of fieldsOf(written)) {
    const value = written.fields[name] ?? firstOf(kind);
    if (!value || name === SERVERS) continue;
    if (secret) secrets[name] = value;
    else settings[name] = kind === "number" ? Number(value) : value;
  }
  return {
    name: written.name,
    type: written.type,
    bootstrap_servers: written.type === "kafka" ? (written.fields[SERVERS] ?? "") : "",
    settings,
    secrets,
  };
}

/** What a choice is before anything is chosen. */
export function firstOf(kind: Field["kind"]): string {
  return typeof kind === "string" ? "" : (kind[0] ?? "");
}

/** Where a connection leads, in one line. */
export function placeOf({ type, bootstrap_servers, settings }: ConnectionOut): string {
  switch (type) {
    case "kafka":
      return bootstrap_servers;
    case "postgresql":
      return `${settings.host}:${settings.port ?? 5432}/${settings.database}`;
    case "files":
      return String(settings.folder);
    case "schema_registry":
      return String(settings.url);
  }
}
