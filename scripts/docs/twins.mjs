/** What programs read of the site: each page as Markdown beside its HTML, `llms.txt` with all of them, `llms-full.txt` with their texts. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder } from "../imports.mjs";
import { outline } from "./outline.mjs";

/**
 * @param {string} root
 * @param {string} source the pages
 * @param {string} site
 * @param {readonly import("./pages.mjs").Page[]} pages
 */
export function writeTwins(root, source, site, pages) {
  for (const file of filesUnder(source, [".md"], [])) {
    cpSync(file, join(site, file.slice(source.length + 1)));
  }
  const { description } = JSON.parse(readFileSync(join(root, "packages/cdckit/package.json"), "utf8"));
  const groups = outline.map(({ text, pages: paths }) => {
    const lines = paths.flatMap((path) => pages.filter((page) => page.path === path)).map(lineOf);
    return `## ${text}\n\n${lines.join("\n")}\n`;
  });
  const errors = pages.filter(({ path }) => path.startsWith("errors/") && path !== "errors/index.md").map(lineOf);
  writeFileSync(join(site, "llms.txt"), `# cdckit\n\n> ${description}\n\n${groups.join("\n")}\n## Error codes\n\n${errors.join("\n")}\n`);
  writeFileSync(join(site, "llms-full.txt"), pages.map(({ path, text }) => `<!-- ${path} -->\n\n${text}`).join("\n\n"));
}

/** @param {import("./pages.mjs").Page} page */
function lineOf({ path, title, text }) {
  const paragraph = text.split("\n\n").find((block) => /^[A-Za-z`]/.test(block) && !block.startsWith("```")) ?? "";
  const first = /^.*?\.(?=\s|$)/.exec(paragraph.replaceAll("\n", " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"))?.[0] ?? "";
  return `- [${title.replaceAll("`", "")}](${path})${first === "" ? "" : `: ${first}`}`;
}
