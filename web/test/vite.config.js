import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Makes one JavaScript file of the unit tests, which Node's own runner then runs; Node 20 cannot read TypeScript. */
export default defineConfig({
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: fileURLToPath(new URL("../../build/web-tests", import.meta.url)),
    emptyOutDir: true,
    target: "node20",
    rolldownOptions: { input: fileURLToPath(new URL("all.ts", import.meta.url)) },
  },
});
