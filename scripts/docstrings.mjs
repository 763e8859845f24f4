/**
 * The check of doc comments: every name that a package exports has one at its declaration, and so has every method and accessor of its
 * interfaces and classes. A property has one if its name and type do not say all of it, which no check can know.
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
    ...bareMembersOf(text, declared.index).map((member) => `${path}: ${name}.${member} is public and has no doc comment.`),
  ];
}

/**
 * @param {string} text
 * @param {number} index
 */
function isAfterDocComment(text, index) {
  return /\*\/\s*$/.test(text.slice(0, index));
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

/** Members whose meaning the language gives. */
const conventions = new Set([
  "toJSON",
  "toString",
  "[Symbol.asyncDispose]",
  "[Symbol.dispose]",
  "[Symbol.asyncIterator]",
  "[Symbol.iterator]",
]);
