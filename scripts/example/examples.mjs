/** The examples of `examples/`, as their manifests describe them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StackError } from "../stack/stack-error.mjs";

/**
 * What an example's package.json says of it: `description`, `scripts.start` (`node FILE ...`), `scripts.build` if it has to be built, and in
 * `example`: `needs` and `tables`.
 * @typedef {object} Example
 * @property {string} name of its folder
 * @property {string} folder
 * @property {string} description
 * @property {readonly Need[]} needs
 * @property {readonly string[]} tables `schema.table`, which the connectors of the stack have to follow beyond the stack's own
 * @property {readonly string[]} start what Node is given
 * @property {boolean} isBuilt whether it has to be built before it starts
 */

/** @typedef {"stack" | "redis"} Need */

/** @type {ReadonlySet<string>} */
const needs = new Set(["stack", "redis"]);

const defaultFolder = join(import.meta.dirname, "..", "..", "examples");

/** Every example, in the order of names. @returns {Example[]} */
export function readExamples(folder = defaultFolder) {
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, "package.json")));
  return names.sort().map((name) => readExample(name, join(folder, name)));
}

/** @param {string} name @param {string} folder @returns {Example} */
function readExample(name, folder) {
  const { description, scripts, example } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const [command, ...start] = String(scripts?.start ?? "").split(" ");
  const isNeed = (/** @type {string} */ need) => needs.has(need);
  if (command !== "node" || start.length === 0 || typeof description !== "string" || !example?.needs?.every(isNeed)) {
    throw new StackError(
      "usage",
      `examples/${name}/package.json: expected a description, a start script "node FILE", and example.needs of ${[...needs].join(", ")}`,
    );
  }
  return { name, folder, description, needs: example.needs, tables: example.tables ?? [], start, isBuilt: scripts.build !== undefined };
}

/** The text of a file of an example, or null. @param {Example} example @param {string} file */
export function readPart({ folder }, file) {
  const path = join(folder, file);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}
