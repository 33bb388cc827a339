import { defineConfig } from "@hey-api/openapi-ts";

export default defineConfig({
  input: "src/api/openapi.json",
  output: { path: "src/api/client" },
  plugins: [
    { name: "@hey-api/client-fetch", throwOnError: true },
    "@hey-api/typescript",
    { name: "@hey-api/sdk", responseStyle: "data", auth: false },
  ],
});
