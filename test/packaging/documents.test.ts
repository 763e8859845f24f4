import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { linksOf } from "../../scripts/links.mjs";
import { documentsOf } from "../../scripts/readme.mjs";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** A YAML text without mistakes, as values. */
function valuesOf(text: string): unknown[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

describe("the workflows of a public host", () => {
  const scripts = (JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }).scripts;

  test.each(readdirSync(join(root, ".github/workflows")))("%s runs scripts that exist, within a time", (name) => {
    const text = read(`.github/workflows/${name}`);
    const [workflow] = valuesOf(text) as [{ readonly jobs: Readonly<Record<string, { readonly "timeout-minutes"?: number }>> }];
    for (const [job, { "timeout-minutes": minutes }] of Object.entries(workflow.jobs)) {
      expect(minutes, `${job} has a limit of time`).toBeGreaterThan(0);
    }
    for (const [, script = ""] of text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
      expect(scripts).toHaveProperty(script);
    }
  });

  test("changesets give all published packages one version", () => {
    const { fixed } = JSON.parse(read(".changeset/config.json")) as { readonly fixed: readonly (readonly string[])[] };
    const names = readdirSync(join(root, "packages")).map(
      (folder) => (JSON.parse(read(`packages/${folder}/package.json`)) as { name: string }).name,
    );
    expect(fixed.flat().toSorted()).toEqual(names.toSorted());
  });
});

test("the README is a front page: under 150 lines, and the rest is in docs", () => {
  expect(read("README.md").split("\n").length).toBeLessThanOrEqual(150);
});

test.each(["docs/api.md", "docs/packages.md"])("%s names every package", (page) => {
  const text = read(page);
  const left = readdirSync(join(root, "packages")).filter((folder) => !text.includes(`(../packages/${folder}/README.md)`));
  expect(left).toEqual([]);
});

describe("a YAML block of the documents", () => {
  const blocks = readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => [...read(`docs/${name}`).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => ({ name, text })));

  test.each(blocks)("of $name can be read", ({ text }) => {
    expect(valuesOf(text).length).toBeGreaterThan(0);
  });

  test("names metrics that a consumer has, in the table of metrics", () => {
    const source = read("packages/consumer/src/observe/prometheus.ts");
    const known = [...source.matchAll(/(counter|gauge)\("(\w+)"/g)].map(
      ([, type, name]) => `cdckit_consumer_${name}${type === "counter" ? "_total" : ""}`,
    );
    const named = read("docs/operations.md").match(/cdckit_consumer_\w+/g) ?? [];
    expect([...new Set(named)].toSorted()).toEqual(known.toSorted());
  });
});

describe("a picture of the documents", () => {
  const shown = documentsOf(root).flatMap((document) => linksOf(read(document)).map(({ target }) => target));

  test.each(readdirSync(join(root, "docs/pictures")))("%s is small, and a document shows it", (name) => {
    expect(statSync(join(root, "docs/pictures", name)).size).toBeLessThan(150_000);
    expect(shown.filter((target) => target.endsWith(`pictures/${name}`)).length).toBeGreaterThan(0);
  });
});
