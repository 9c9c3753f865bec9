import { defineConfig } from "vite";

// One script and one style sheet with fixed names: they are embedded in the program.
export default defineConfig({
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    modulePreload: false,
    rollupOptions: { output: { entryFileNames: "app.js", assetFileNames: "app.[ext]" } },
  },
});
