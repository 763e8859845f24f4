/** Which tests a change concerns: those that reach a changed file by their imports, or read it by its name. */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { filesUnder, importsOf } from "./imports.mjs";

/** @typedef {{ readonly file: string, readonly distance: number }} RelatedTest `distance`: how many imports lie between test and change */

const codeEndings = [".ts", ".mts", ".js", ".mjs"];
const folders = ["packages", "test", "scripts", "examples", "bench"];

/** Named by too many files to say anything, and judged by `npm run check`. */
const unrelatedNames = new Set(["package.json", "package-lock.json", "tsconfig.json", "index.ts", "README.md"]);

/**
 * The test files that a change concerns, the nearest first.
 * @param {string} root
 * @param {readonly string[]} changed paths below the root
 * @returns {RelatedTest[]}
 */
export function relatedTests(root, changed) {
  const sources = readSources(root);
  const importers = importersOf(root, sources);
  /** @type {Map<string, number>} */
  const distances = new Map();
  let reached = startsOf(sources, changed);
  for (let distance = 0; reached.length > 0; distance++) {
    const fresh = reached.filter((file) => !distances.has(file));
    for (const file of fresh) {
      distances.set(file, distance);
    }
    reached = fresh.flatMap((file) => [...(importers.get(file) ?? [])]);
  }
  return [...distances]
    .filter(([file]) => file.endsWith(".test.ts"))
    .map(([file, distance]) => ({ file, distance }))
    .sort(
      (a, b) => a.distance - b.distance || sharedFolders(b.file, changed) - sharedFolders(a.file, changed) || (a.file < b.file ? -1 : 1),
    );
}

/**
 * How many folders a file has in common with the changed file that is next to it.
 * @param {string} file
 * @param {readonly string[]} changed
 */
function sharedFolders(file, changed) {
  const own = dirname(file).split("/");
  return Math.max(
    0,
    ...changed.map((other) => {
      const folders = dirname(other).split("/");
      const parting = own.findIndex((folder, depth) => folder !== folders[depth]);
      return parting === -1 ? own.length : parting;
    }),
  );
}

/**
 * The text of each code file, by its path below the root.
 * @param {string} root
 */
function readSources(root) {
  /** @type {Map<string, string>} */
  const sources = new Map();
  for (const folder of folders.map((name) => join(root, name)).filter((path) => existsSync(path))) {
    for (const file of filesUnder(folder, codeEndings, ["node_modules", "dist"])) {
      sources.set(relative(root, file), readFileSync(file, "utf8"));
    }
  }
  return sources;
}

/**
 * The changed files that are code, and beside them the code that reads a changed file: it names the file, or stands in the folder above.
 * @param {ReadonlyMap<string, string>} sources
 * @param {readonly string[]} changed
 */
function startsOf(sources, changed) {
  const starts = new Set(changed.filter((file) => sources.has(file)));
  for (const file of changed.filter((one) => !one.endsWith(".ts") && !unrelatedNames.has(basename(one)) && !one.endsWith(".md"))) {
    const name = basename(file);
    const readers = [...sources].filter(([path, text]) => text.includes(name) && path !== file).map(([path]) => path);
    for (const reader of sources.has(file) ? readers : [...readers, ...besideData(sources, file)]) {
      starts.add(reader);
    }
  }
  return [...starts];
}

/**
 * The code in the nearest folder above a data file that has code: it may list the folder that the file is in.
 * @param {ReadonlyMap<string, string>} sources
 * @param {string} file
 */
function besideData(sources, file) {
  for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
    const beside = [...sources.keys()].filter((path) => dirname(path) === folder);
    if (beside.length > 0) {
      return beside;
    }
  }
  return [];
}

/**
 * By whom each file is imported at run time. A name that a package's door hands on is followed to the file that defines it: else whoever
 * imports one name from a package would depend on all of it.
 * @param {string} root
 * @param {ReadonlyMap<string, string>} sources
 */
function importersOf(root, sources) {
  const doors = readDoors(root);
  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  for (const [file, text] of sources) {
    for (const one of importsOf(text).filter(({ typeOnly }) => !typeOnly)) {
      for (const target of targetsOf(sources, doors, file, one)) {
        importers.set(target, (importers.get(target) ?? new Set()).add(file));
      }
    }
  }
  return importers;
}

/**
 * The source of each package's door, by the name that a user imports it by.
 * @param {string} root
 */
function readDoors(root) {
  const manifests = readdirSync(join(root, "packages")).map((folder) => join(root, "packages", folder, "package.json"));
  return new Map(manifests.filter((path) => existsSync(path)).flatMap((path) => doorsOf(root, path)));
}

/**
 * @param {string} root
 * @param {string} path of a package.json
 * @returns {[door: string, source: string][]}
 */
function doorsOf(root, path) {
  const { name, exports = {} } = JSON.parse(readFileSync(path, "utf8"));
  return Object.entries(exports).flatMap(([door, targets]) => {
    const source = /** @type {Record<string, string>} */ (targets)["@cdckit/source"];
    return source === undefined ? [] : [[join(name, door), relative(root, resolve(dirname(path), source))]];
  });
}

/**
 * @param {ReadonlyMap<string, string>} sources
 * @param {ReadonlyMap<string, string>} doors
 * @param {string} file
 * @param {import("./imports.mjs").Import} one
 * @returns {string[]}
 */
function targetsOf(sources, doors, file, one) {
  if (one.specifier.startsWith(".")) {
    const path = join(dirname(file), one.specifier);
    return sources.has(path) ? [path] : [];
  }
  const door = doors.get(one.specifier);
  return door === undefined ? [] : definitionsOf(sources, doors, door, one.names);
}

/**
 * The files that define the names which a door exports; the door itself if it does not export a name, or if no names are given.
 * @param {ReadonlyMap<string, string>} sources
 * @param {ReadonlyMap<string, string>} doors
 * @param {string} door
 * @param {readonly string[] | null} names
 * @returns {string[]}
 */
function definitionsOf(sources, doors, door, names) {
  const handedOn = importsOf(sources.get(door) ?? "");
  if (names === null) {
    return [door];
  }
  return names.flatMap((name) => {
    const through = handedOn.find((one) => one.names?.includes(name));
    return through === undefined ? [door] : targetsOf(sources, doors, door, { ...through, names: [name] });
  });
}

/**
 * Those of the paths that are files below the root; of a folder, the files in it.
 * @param {string} root
 * @param {readonly string[]} paths
 */
export function filesOf(root, paths) {
  return paths.flatMap((path) => {
    const full = resolve(root, path);
    if (!existsSync(full)) {
      throw new Error(`There is no file ${path}. Name files or folders of this repository.`);
    }
    const all = statSync(full).isDirectory() ? filesUnder(full, [""], ["node_modules", "dist"]) : [full];
    return all.map((file) => relative(root, file));
  });
}
