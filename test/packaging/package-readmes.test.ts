/** The README of each package is its page in a registry: what it is, how to install it, an example, and how to try it before it is published. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { blocksOf } from "../../scripts/readme.mjs";
import { fileAddress } from "../../scripts/repository.mjs";
import { linksOf } from "../../scripts/links.mjs";
import { publishedPackages } from "../../scripts/tarballs.mjs";
import { root } from "./tarballs.ts";

const packages = publishedPackages();
const published = new Set(packages.map(({ manifest }) => manifest.name));
const readmes = packages.map(({ path, manifest }) => ({
  name: manifest.name,
  path,
  text: readFileSync(join(path, "README.md"), "utf8"),
}));

/** The named packages of ours, and those that they depend on. */
function oursOf(names: readonly string[], found: Set<string> = new Set()): readonly string[] {
  for (const { manifest } of packages.filter(({ manifest: { name } }) => names.includes(name) && !found.has(name))) {
    found.add(manifest.name);
    oursOf(Object.keys(manifest.dependencies ?? {}), found);
  }
  return [...found];
}

/** The words of the line that begins so, after its options. */
function wordsOf(text: string, command: string): readonly string[] {
  const line = text.split("\n").find((one) => one.startsWith(command)) ?? "";
  return line
    .slice(command.length)
    .split(" ")
    .filter((word) => word !== "" && !word.startsWith("--"));
}

describe("the README", () => {
  test.each(readmes)("of $name says in its first sentence what the package is", ({ name, text }) => {
    expect(text.split("\n")[0]).toBe(`# ${name}`);
    const [sentence = ""] = /^[\s\S]*?\.(?=\s|$)/.exec(text.slice(text.indexOf("\n")).trim()) ?? [];
    expect(sentence).toMatch(/^(?!```|\|)/);
    expect(sentence.split(/\s+/).length).toBeGreaterThan(5);
    expect(sentence.replace(/\]\([^)]*\)/g, "]").length, sentence).toBeLessThan(260);
  });

  test.each(readmes)("of $name installs it, and packs all that this consists of", ({ name, text }) => {
    const installed = wordsOf(text, "npm install ");
    expect(installed[0]).toBe(name);
    // npm moves what it installs with --save-dev there: packages of the two kinds must not lie in one folder.
    const folder = text.includes("npm install --save-dev") ? "/tmp/cdckit-dev" : "/tmp/cdckit";
    const packed = wordsOf(text, `npm pack --pack-destination ${folder} `).filter((word) => word !== "-w");
    expect(packed.toSorted()).toEqual(oursOf(installed).toSorted());
    const local = wordsOf(text, "cd ../my-service && npm install ");
    expect(local).toEqual([`${folder}/*.tgz`, ...installed.filter((one) => !published.has(one))]);
  });

  test.each(readmes)("of $name has an example, which the check of documents compiles or tries", ({ name, path }) => {
    const languages = blocksOf(root, `${path.slice(root.length + 1)}/README.md`).map(({ language }) => language.split(" ")[0]);
    expect(languages).toContain(name === "cdc-bench" ? "sh" : "ts");
  });

  test.each(readmes)("of $name has links that hold where there is no folder around it", ({ text }) => {
    const relative = linksOf(text).filter(({ target }) => !/^(?:https:\/\/|#)/.test(target));
    expect(relative).toEqual([]);
    expect(text).toContain(`](${fileAddress(root)}docs/packages.md#before-it-is-published)`);
  });
});
