/**
 * The pages of the site, from the documents of the repository. A document keeps its text; its links are rewritten to where their targets stand
 * on the site, or to the repository's host for what is no page.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { filesUnder } from "../imports.mjs";
import { fileAddress, rawAddress } from "../repository.mjs";

/** @typedef {{ readonly source: string, readonly path: string, readonly title: string, readonly text: string }} Page */

/** Documents outside of `docs/` that users read. */
const others = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "ARCHITECTURE.md",
  "GLOSSARY.md",
  "GUARANTEES.md",
  "SECURITY.md",
  "SUPPORT.md",
];

/**
 * Every page, with its text as the site has it.
 * @param {string} root
 * @returns {Page[]}
 */
export function pagesOf(root) {
  const sources = [
    ...others,
    ...filesUnder(join(root, "docs"), [".md"]).map((path) => relative(root, path)),
    ...filesUnder(join(root, "packages"), ["README.md", "LIFECYCLE.md"]).map((path) => relative(root, path)),
    ...filesUnder(join(root, "examples"), ["README.md"]).map((path) => relative(root, path)),
    "docker/README.md",
    "bench/README.md",
  ];
  const paths = new Map(sources.map((source) => [source, sitePath(source)]));
  return sources.map((source) => {
    const text = readFileSync(join(root, source), "utf8");
    const title = /^# (.+)$/m.exec(text)?.[1] ?? source;
    return { source, path: sitePath(source), title, text: forSite(root, source, text, paths) };
  });
}

/**
 * Where a document stands on the site: `docs/errors/README.md` is `errors/index.md`, `packages/decode/README.md` is `packages/decode.md`.
 * @param {string} source
 */
export function sitePath(source) {
  const path = source.replace(/^docs\//, "");
  if (path === "README.md") {
    return "index.md";
  }
  if (path === "SECURITY.md") {
    return "security-policy.md"; // docs/security.md is the page about security
  }
  if (path.endsWith("errors/README.md")) {
    return "errors/index.md";
  }
  return path
    .replace(/\/README\.md$/, ".md")
    .replace(/\/LIFECYCLE\.md$/, "-lifecycle.md")
    .toLowerCase();
}

/**
 * @param {string} root
 * @param {string} source
 * @param {string} text
 * @param {ReadonlyMap<string, string>} paths
 */
function forSite(root, source, text, paths) {
  const [own, ownPictures] = [fileAddress(root), rawAddress(root)];
  let isCode = false;
  return text
    .split("\n")
    .map((line) => {
      const isFence = line.startsWith("```");
      isCode = isFence ? !isCode : isCode;
      if (isFence) {
        return line.replace(/^```ts run$/, "```ts");
      }
      return isCode
        ? line
        : line.replace(
            /\]\(([^()\s]+)\)/g,
            (_, target) => `](${siteTarget(root, source, target.replace(own, "/").replace(ownPictures, "/"), paths)})`,
          );
    })
    .join("\n");
}

/**
 * @param {string} root
 * @param {string} source
 * @param {string} target
 * @param {ReadonlyMap<string, string>} paths
 */
function siteTarget(root, source, target, paths) {
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i.test(target)) {
    return target;
  }
  const [path = "", anchor] = target.split("#");
  const named = posix.normalize(path.startsWith("/") ? path.slice(1) : posix.join(dirname(source), path));
  const page = paths.get(named);
  const suffix = anchor === undefined ? "" : `#${anchor}`;
  if (page !== undefined) {
    return `${relativeTo(sitePath(source), page)}${suffix}`;
  }
  if (/\.(?:png|svg)$/.test(named) && existsSync(join(root, named))) {
    return `/${posix.basename(named)}`; // copied to the public files
  }
  return `${fileAddress(root)}${named}${suffix}`;
}

/**
 * @param {string} from
 * @param {string} to
 */
function relativeTo(from, to) {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}
