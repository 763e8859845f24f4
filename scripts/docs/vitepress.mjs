/** The configuration of the site. `scripts/docs.mjs` copies it beside the pages, with what it has found out about them. */
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const { base, sidebar } = JSON.parse(readFileSync(new URL("site.json", import.meta.url), "utf8"));

export default defineConfig({
  base,
  title: "cdckit",
  description: "Consume change data capture from Kafka in Node.js",
  cleanUrls: true,
  lastUpdated: false,
  // Links are made as GitHub makes them, so that one link leads to a heading there and here.
  markdown: { anchor: { slugify: githubName }, html: true },
  themeConfig: { sidebar, outline: [2, 3], search: { provider: "local" } },
  vite: { build: { chunkSizeWarningLimit: 10_000 } },
});

/** @param {string} heading */
function githubName(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}
