/**
 * The link check: every link of a document that stays in the repository leads to a file, and its `#anchor` to a heading of that file. Links
 * to the repository's own address stay in it, too: READMEs of packages need them.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { filesUnder } from "./imports.mjs";
import { fileAddress, rawAddress } from "./repository.mjs";

/** @typedef {{ readonly target: string, readonly line: number }} Link */

/**
 * The links that lead nowhere, as `path:line: sentence`.
 * @param {string} root
 * @returns {string[]}
 */
export function checkLinks(root) {
  const own = [fileAddress(root), rawAddress(root)];
  /** @type {Map<string, ReadonlySet<string>>} */
  const anchors = new Map(); // of each document that is linked to
  return filesUnder(root, [".md"], ["node_modules", "dist"]).flatMap((file) =>
    linksOf(readFileSync(file, "utf8")).flatMap(({ target, line }) => {
      const base = own.find((address) => target.startsWith(address));
      const wrong = complaintOf(root, file, base === undefined ? target : `/${target.slice(base.length)}`, anchors);
      return wrong === null ? [] : [`${relative(root, file)}:${line}: links to ${target}, ${wrong}`];
    }),
  );
}

/** A scheme (`https:`, `mailto:`) leaves the repository. */
const leaves = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i;

/**
 * What is wrong with a link; null if nothing.
 * @param {string} root
 * @param {string} file
 * @param {string} target
 * @param {Map<string, ReadonlySet<string>>} anchors by path, filled here
 */
function complaintOf(root, file, target, anchors) {
  if (leaves.test(target)) {
    return null;
  }
  const [path = "", anchor] = target.split("#");
  const to = path === "" ? file : resolve(path.startsWith("/") ? root : dirname(file), `./${decodeURIComponent(path)}`);
  if (relative(root, to).startsWith("..")) {
    return "which is outside of the repository.";
  }
  if (!existsSync(to)) {
    return `and there is no ${relative(root, to)}.`;
  }
  if (anchor === undefined || !to.endsWith(".md") || statSync(to).isDirectory()) {
    return null;
  }
  const known = anchors.get(to) ?? anchorsOf(readFileSync(to, "utf8"));
  anchors.set(to, known);
  return known.has(decodeURIComponent(anchor).toLowerCase()) ? null : `and ${relative(root, to)} has no heading of that name.`;
}

// [text](target "title"), ![image](target), [name]: target, <a href="target">
const linkForms = [
  /\]\(\s*([^\s()<>]+(?:\([^\s()]*\))?)(?:\s+["'][^)]*)?\)/g,
  /\]\(\s*<([^<>]+)>(?:\s+["'][^)]*)?\)/g,
  /^ {0,3}\[[^\]]+\]:\s+<?([^\s<>]+)>?(?:\s|$)/g,
  /\b(?:href|src)="([^"]+)"/g,
];

/**
 * The links of a document. What stands in code is not one.
 * @param {string} text
 * @returns {Link[]}
 */
export function linksOf(text) {
  return proseOf(text).flatMap((line, index) =>
    linkForms.flatMap((form) => [...line.matchAll(form)].map(([, target = ""]) => ({ target, line: index + 1 }))),
  );
}

/**
 * The names by which the headings of a document are linked to, as GitHub makes them, and those of its HTML elements.
 * @param {string} text
 * @returns {Set<string>}
 */
export function anchorsOf(text) {
  /** @type {Set<string>} */
  const anchors = new Set();
  for (const line of withoutBlocks(text)) {
    const heading = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/.exec(line)?.[1];
    if (heading !== undefined) {
      addUnique(anchors, nameOf(heading));
    }
    for (const [, id = ""] of line.matchAll(/<[a-z]+[^>]*\s(?:id|name)="([^"]+)"/gi)) {
      anchors.add(id.toLowerCase());
    }
  }
  return anchors;
}

/**
 * Headings of the same text are numbered.
 * @param {Set<string>} anchors
 * @param {string} name
 */
function addUnique(anchors, name) {
  let unique = name;
  for (let number = 1; anchors.has(unique); number++) {
    unique = `${name}-${number}`;
  }
  anchors.add(unique);
}

/** @param {string} heading */
function nameOf(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/**
 * The lines of a document. Lines of code blocks and comments are empty, and text between backquotes is left out.
 * @param {string} text
 */
function proseOf(text) {
  return withoutBlocks(text).map((line) => line.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, ""));
}

/** @param {string} text */
function withoutBlocks(text) {
  /** @type {string | null} */
  let fence = null;
  const uncommented = text.replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ""));
  return uncommented.split("\n").map((line) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? null;
    const isFence = mark !== null && (fence === null || mark.startsWith(fence));
    if (isFence) {
      fence = fence === null ? mark : null;
    }
    return isFence || fence !== null ? "" : line;
  });
}
