import { expect, test } from "vitest";
import type { ConnectionOut } from "../api/client";
import { bodyOf, fieldsOf, placeOf, writtenOf } from "./connectionFields";

const SECURED: ConnectionOut = {
  id: "1",
  name: "prod",
  type: "kafka",
  bootstrap_servers: "a:9093",
  settings: { security_protocol: "SASL_SSL", sasl_mechanism: "PLAIN", username: "ada" },
  secrets: ["password"],
  updated_at: "2026-01-31T12:00:00Z",
};

function names(fields: Record<string, string>, type: ConnectionOut["type"] = "kafka") {
  return fieldsOf({ type, fields }).map(({ name }) => name);
}

test("a cluster is asked for what its protocol needs", () => {
  expect(names({})).toEqual(["bootstrap_servers", "security_protocol"]);
  expect(names({ security_protocol: "SASL_PLAINTEXT" })).toEqual([
    "bootstrap_servers",
    "security_protocol",
    "sasl_mechanism",
    "username",
    "password",
  ]);
  expect(names({ security_protocol: "SSL" })).not.toContain("password");
  expect(names({ security_protocol: "SSL" })).not.toContain("client_key");
  expect(names({ security_protocol: "SSL", client_certificate: "x" })).toContain("client_key");
});

test("what is written goes to the server, and nothing that means nothing any more", () => {
  const written = writtenOf(SECURED);
  expect(bodyOf(written)).toEqual({
    name: "prod",
    type: "kafka",
    bootstrap_servers: "a:9093",
    settings: { security_protocol: "SASL_SSL", sasl_mechanism: "PLAIN", username: "ada" },
    secrets: {},
  });
  const fields = { ...written.fields, password: "new" };
  expect(bodyOf({ ...written, fields }).secrets).toEqual({ password: "new" });
  const plain = { ...fields, security_protocol: "PLAINTEXT" };
  expect(bodyOf({ ...written, fields: plain })).toMatchObject({
    settings: { security_protocol: "PLAINTEXT" },
    secrets: {},
  });
});

test("a choice that nobody made is its first, and a port is a number", () => {
  const fields = { security_protocol: "SASL_SSL" };
  expect(bodyOf({ name: "x", type: "kafka", fields }).settings).toEqual({
    security_protocol: "SASL_SSL",
    sasl_mechanism: "SCRAM-SHA-512",
  });
  const database = { host: "db", port: "5433", database: "shop", user: "ada" };
  expect(bodyOf({ name: "x", type: "postgresql", fields: database }).settings).toEqual({
    ...database,
    port: 5433,
    sslmode: "prefer",
  });
});

test("each type says where it leads", () => {
  expect(placeOf(SECURED)).toBe("a:9093");
  const settings = { host: "db", database: "shop" };
  expect(placeOf({ ...SECURED, type: "postgresql", settings })).toBe("db:5432/shop");
});
