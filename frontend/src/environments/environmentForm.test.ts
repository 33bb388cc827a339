import { describe, expect, it } from "vitest";
import { ApiError } from "../api/session";
import { bodyOf, faultsOf, formOf, newPair } from "./environmentForm";

const PRODUCTION = {
  name: "production",
  connections: { local: "prod-kafka" },
  profile: {
    master: "spark://master:7077",
    cores: 12,
    driver_memory: "2g",
    executor_memory: "4g",
    conf: { "spark.network.timeout": "30s" },
  },
  masks: ["email"],
};

describe("the form of an environment", () => {
  it("asks for what it was given", () => {
    const form = formOf({ ...PRODUCTION, updated_at: "2026-01-01T00:00:00Z" });
    expect(bodyOf(form)).toEqual(PRODUCTION);
  });

  it("asks for nothing that was left empty", () => {
    const form = { ...formOf(), name: "test", connections: [newPair()], conf: [newPair()] };
    expect(bodyOf(form)).toEqual({
      name: "test",
      connections: {},
      profile: { master: "", cores: null, driver_memory: "", executor_memory: "", conf: {} },
      masks: [],
    });
  });

  it("keeps a row of which one half is missing, so that it is refused and not lost", () => {
    const form = { ...formOf(), name: "test", connections: [newPair("local", "")] };
    expect(bodyOf(form).connections).toEqual({ local: "" });
  });

  it("tells rows apart that say the same", () => {
    expect(newPair("a", "b").id).not.toBe(newPair("a", "b").id);
  });

  it("shows what is refused at its field", () => {
    const problems = [
      { step: null, field: "master", severity: "error", message: "Write local[*]." },
      { step: null, field: "conf.spark.jars", severity: "error", message: "It can load code." },
      { step: null, field: "profile.cores", severity: "error", message: "Too many." },
      { step: null, field: "connections.local", severity: "error", message: "No such name." },
      { step: null, field: "connections.local", severity: "error", message: "Not there." },
    ];
    expect(faultsOf(new ApiError(422, { problems }, "refused"))).toEqual({
      master: "Write local[*].",
      "conf.spark.jars": "It can load code.",
      cores: "Too many.",
      "connections.local": "No such name. Not there.",
    });
    expect(faultsOf(new Error("away"))).toEqual({});
  });
});
