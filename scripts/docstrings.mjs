/** The check of doc comments: every name that a package exports has one at its declaration. */
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
  return /\*\/\s*$/.test(text.slice(0, declared.index)) ? [] : [`${relative(root, from)}: ${name} is public and has no doc comment.`];
}
