import type { Config } from "../api/graph";
import type { StepType } from "../api/stepTypes";

/** The config a step begins with: empty, but for the connection where there is no choice. */
export function newConfig(type: StepType, connections: string[]): Config {
  const properties = (type.schema.properties ?? {}) as Record<string, { format?: string }>;
  const config: Config = {};
  for (const [name, property] of Object.entries(properties)) {
    if (property.format !== "connection") continue;
    const chosen = connections.includes("local") ? "local" : connections[0];
    if (chosen && (connections.length === 1 || chosen === "local")) config[name] = chosen;
  }
  return config;
}
