import { defineConfig } from "vite";

/** Moves style and script into the page: one <style>, one classic <script>, since a module is not loaded from file://. */
function onePage() {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const page = files.find((file) => file.fileName.endsWith(".html"));
      const style = files.filter((file) => file.fileName.endsWith(".css"));
      const script = files.filter((file) => file.type === "chunk");
      const css = style.map((file) => file.source).join("\n");
      const js = script.map((file) => file.code).join("\n");
      page.source = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace("</head>", () => `<style>${css.trim().replaceAll("</style", "<\\/style")}</style>\n</head>`)
        .replace("</body>", () => `<script>${escaped(js.trim())}</script>\n</body>`);
      for (const file of [...style, ...script]) delete bundle[file.fileName];
      this.info(`page: ${page.source.length} characters`);
    },
  };
}

function escaped(js) {
  return js.replaceAll(/<\/script/gi, "<\\/script").replaceAll("<!--", "<\\!--");
}

export default defineConfig({
  base: "./",
  plugins: [onePage()],
  build: {
    outDir: "../src/mngr_view/static",
    emptyOutDir: false,
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    cssCodeSplit: false,
    assetsInlineLimit: 100_000_000,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: { input: "page.html", output: { format: "iife", codeSplitting: false } },
  },
});
