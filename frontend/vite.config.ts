import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = `127.0.0.1:${process.env.HEADRACE_PORT ?? 8000}`;

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: {
      // rjsf's own test tools, which its index exports, want a validator that needs `eval`.
      "@rjsf/validator-ajv8": new URL("src/form/noValidation.ts", import.meta.url).pathname,
    },
  },
  server: {
    // Under the page's own host, since Django compares it with the origin.
    proxy: {
      "^/(api|admin|static)/": { target: `http://${server}`, changeOrigin: false },
      "/ws/": { target: `ws://${server}`, changeOrigin: false, ws: true },
    },
  },
  build: { chunkSizeWarningLimit: 800 },
  test: {
    // Tests that need a page say so in their first line; making one takes longer than most tests.
    environment: "node",
    testTimeout: 30_000,
    // Loading what a page is made of takes longer than most tests: each process does so once.
    isolate: false,
    setupFiles: ["src/testSetup.ts"],
    // rjsf's modules import each other without file endings, which Node refuses.
    server: { deps: { inline: [/@rjsf\//] } },
    restoreMocks: true,
  },
});
