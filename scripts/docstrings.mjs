/**
 * The check of doc comments: every name that a package exports has one at its declaration, and so has every method, accessor and property of
 * its interfaces, types and classes, however deep it lies in them. A property that is a text of one value (`kind: "change"`) needs none. A
 * comment that states the default alone is none.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** @typedef {{ readonly name: string, readonly from: string }} ExportedName */

/**
 * The public names without a doc comment, as `path: sentence`.
 * @param {string} root
 * @returns {string[]}
 */
export function checkDocstrings(root) {
  const complaints = readdirSync(join(root, "packages"))
    .map((folder) => join(root, "packages", folder, "src/index.ts"))
    .filter((index) => existsSync(index))
    .flatMap((index) => exportedNames(index).flatMap((one) => complaintOf(root, one)));
  return [...new Set(complaints)];
}

/**
 * The names that a file exports from other files of its package.
 * @param {string} file
 * @returns {ExportedName[]}
 */
function exportedNames(file) {
  const lists = readFileSync(file, "utf8").matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm);
  return [...lists].flatMap(([, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) =>
        name
          .replace(/\/\/.*$/gm, "")
          .trim()
          .replace(/^type /, "")
          .replace(/ as .*$/, ""),
      )
      .filter((name) => name !== "")
      .map((name) => ({ name, from: join(dirname(file), from) })),
  );
}

/**
 * @param {string} root
 * @param {ExportedName} exported
 * @returns {string[]}
 */
function complaintOf(root, { name, from }) {
  const text = readFileSync(from, "utf8");
  const declared = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\\*?|class|interface|type) ${name}\\b`,
    "m",
  ).exec(text);
  if (declared === null) {
    const passedOn = exportedNames(from).find((one) => one.name === name);
    return passedOn === undefined
      ? [`${relative(root, from)}: exports ${name} in a way that this check does not read.`]
      : complaintOf(root, passedOn);
  }
  const path = relative(root, from);
  const isDocumented = isAfterDocComment(text, declared.index);
  return [
    ...(isDocumented ? [] : [`${path}: ${name} is public and has no doc comment.`]),
    ...[...bareMembersOf(text, declared.index), ...barePropertiesOf(text, declared.index)].map(
      (member) => `${path}: ${name}.${member} is public and has no doc comment.`,
    ),
  ];
}

/**
 * @param {string} text
 * @param {number} index
 */
function isAfterDocComment(text, index) {
  const before = text.slice(0, index).trimEnd();
  return before.endsWith("*/") && !/\/\*\*\s*(?:\*\s*)?@(?:(?!\*\/)[^])*$/.test(before.slice(before.lastIndexOf("/**"), -2));
}

/** As the formatter lays them out: two spaces deep, and not private. Data stands beside its type and does not match. */
const memberForm =
  /^  (?:abstract )?(?:static )?(?:async )?(?:[gs]et )?\*?((?!constructor\b|if\b|for\b|while\b)\w+|\[Symbol\.\w+\])\??(?:<[^\n(]*>)?\(/;

/**
 * The methods and accessors of the interface or class that begins at `start` without a doc comment. What a class has to have because it
 * `implements` an interface is described there.
 * @param {string} text
 * @param {number} start
 * @returns {readonly string[]}
 */
function bareMembersOf(text, start) {
  const declaration = /^export (?:declare )?(?:abstract )?(?:class|interface) [^;]*?\{\n/.exec(text.slice(start))?.[0];
  if (declaration === undefined || /\bimplements\b/.test(declaration)) {
    return [];
  }
  const end = text.indexOf("\n}\n", start);
  /** @type {string[]} */
  const bare = [];
  /** @type {Set<string>} */
  const seen = new Set();
  for (let at = start + declaration.length; at > 0 && at < end; at = text.indexOf("\n", at) + 1) {
    const member = memberForm.exec(text.slice(at, text.indexOf("\n", at)))?.[1];
    if (member !== undefined && !seen.has(member)) {
      seen.add(member);
      if (!isAfterDocComment(text, at) && !conventions.has(member)) bare.push(member);
    }
  }
  return bare;
}

/**
 * A property on a line of its own, as the formatter lays them out. A parameter of a function ends with a comma, and is none. What a class
 * overrides is described in its base.
 */
const propertyForm = /^( +)(?:static )?(?:declare )?(?:readonly )?(?:(\w+)|("[^"]+"))\??:(?: (.*))?$/;

/**
 * The properties of the interface, type or class that begins at `start` without a doc comment. What a class has to have because it `implements`
 * an interface is described there, and the bodies of its methods lie deeper than its properties.
 * @param {string} text
 * @param {number} start
 * @returns {readonly string[]}
 */
function barePropertiesOf(text, start) {
  const head = /^export (?:declare )?(?:abstract )?(class|interface|type) [^;]*?(?:\{|=)/.exec(text.slice(start));
  if (head === null || /\bimplements\b/.test(head[0])) {
    return [];
  }
  const lines = text.slice(start).split("\n");
  const end = lines.findIndex((line, at) => (at > 0 && /^\S/.test(line)) || /^export type .*;$/.test(line));
  let at = start;
  return lines.slice(0, Math.max(0, end)).flatMap((line) => {
    const lineStart = at;
    at += line.length + 1;
    const [, indent = "", name, quoted, type = ""] = propertyForm.exec(line) ?? [];
    const property = name ?? quoted;
    const isCovered =
      property === undefined ||
      line.endsWith(",") ||
      (head[1] === "class" && indent.length > 2) ||
      /^"[^"]*";$/.test(type) ||
      isAfterDocComment(text, lineStart);
    return isCovered ? [] : [property];
  });
}

/** Members whose meaning the language gives. */
const conventions = new Set([
  "toJSON",
  "toString",
  "[Symbol.asyncDispose]",
  "[Symbol.dispose]",
  "[Symbol.asyncIterator]",
  "[Symbol.iterator]",
]);
