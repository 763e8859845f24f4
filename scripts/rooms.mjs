/**
 * The room check: every import keeps to `room-table.mjs`. A workspace links all packages, so the compiler would accept an import that
 * points up, or past a package's door; this is the wall.
 *
 * Run alone: `node scripts/rooms.mjs [repository]`.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { findCycles } from "./cycles.mjs";
import { filesUnder, importsOfFile, isTestFile, packageOf } from "./imports.mjs";
import { outsiders, packageTable, roomTables, testTable } from "./room-table.mjs";
import { complaintsOfRooms } from "./rooms-within.mjs";
import { repositoryRoot } from "./set-up.mjs";

const endings = [".ts", ".mts", ".js", ".mjs"];
const testOnlyPackages = new Set(["vitest", "fast-check"]);

/**
 * Every import of the repository that the table forbids, as `path:line: sentence`.
 * @param {string} root
 * @returns {string[]}
 */
export function checkRooms(root) {
  const packages = readPackages(root);
  const complaints = [...complaintsOfTable(packages)];
  for (const own of packages.values()) {
    complaints.push(...complaintsOfPackage(root, own, packages));
  }
  for (const folder of outsiders) {
    complaints.push(...complaintsOfOutsider(root, folder, packages));
  }
  return complaints;
}

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {boolean} [private]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, unknown>} [exports]
 */

/** @typedef {import("./imports.mjs").Import} Import */

/**
 * @typedef {object} Package
 * @property {string} folder its name under packages/
 * @property {string} path
 * @property {string} name
 * @property {Manifest} manifest
 * @property {string[]} references folders that its tsconfig refers to
 */

/**
 * @param {string} root
 * @returns {Map<string, Package>} by npm name
 */
function readPackages(root) {
  const packages = new Map();
  for (const folder of readdirSync(join(root, "packages")).sort()) {
    const path = join(root, "packages", folder);
    if (existsSync(join(path, "package.json"))) {
      const manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
      const references = [...readFileSync(join(path, "tsconfig.json"), "utf8").matchAll(/"path":\s*"\.\.\/([^"]+)"/g)].map((m) => m[1]);
      packages.set(manifest.name, { folder, path, name: manifest.name, manifest, references });
    }
  }
  return packages;
}

/**
 * What the manifests and the table say of each other, before any file is read.
 * @param {Map<string, Package>} packages
 * @returns {Generator<string>}
 */
function* complaintsOfTable(packages) {
  /** @type {Map<string, string[]>} */
  const edges = new Map();
  for (const { folder, name, manifest, references } of packages.values()) {
    if (packageTable[folder] === undefined) {
      yield `packages/${folder}: has no row in scripts/room-table.mjs. Say there what it may import.`;
    }
    const needed = Object.keys(runtimeDependencies(manifest)).filter((dependency) => packages.has(dependency));
    const referred = references.map((reference) => [...packages.values()].find((other) => other.folder === reference)?.name);
    edges.set(name, [...needed, ...referred.filter((other) => other !== undefined)]);
    for (const dependency of needed) {
      if (manifest.private !== true && packages.get(dependency)?.manifest.private === true) {
        yield `packages/${folder}/package.json: ${name} is published and depends on ${dependency}, which is private.`;
      }
    }
  }
  for (const cycle of findCycles(edges)) {
    yield `packages: ${cycle.join(" -> ")} is a cycle.`;
  }
}

/**
 * @param {Manifest} manifest
 * @returns {Record<string, string>}
 */
function runtimeDependencies(manifest) {
  return { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
}

/**
 * @param {string} root
 * @param {Package} own
 * @param {Map<string, Package>} packages
 * @returns {Generator<string>}
 */
function* complaintsOfPackage(root, own, packages) {
  const source = join(own.path, "src");
  const files = [source, join(own.path, "bin")].filter((folder) => existsSync(folder)).flatMap((folder) => filesUnder(folder, endings));
  /** @type {Map<string, string[]>} */
  const edges = new Map();
  for (const file of files) {
    const imports = importsOfFile(file);
    for (const one of imports) {
      const sentences = [...complaintsOfImport(file, one, own, packages)];
      yield* sentences.map((sentence) => `${relative(root, file)}:${one.line}: ${sentence}`);
    }
    if (!isTestFile(file)) {
      edges.set(relative(source, file), runtimeTargets(file, imports, source));
    }
  }
  for (const cycle of findCycles(edges)) {
    yield `packages/${own.folder}/src: ${cycle.join(" -> ")} is a cycle of files. Move what both need into a third.`;
  }
  const table = roomTables[own.folder];
  if (table !== undefined) {
    yield* complaintsOfRooms(
      root,
      source,
      files.filter((file) => file.startsWith(source) && !isTestFile(file)),
      table,
    );
  }
}

/**
 * Files of the same package that are loaded when this one is.
 * @param {string} file
 * @param {readonly Import[]} imports
 * @param {string} source
 */
function runtimeTargets(file, imports, source) {
  return imports
    .filter((one) => one.specifier.startsWith(".") && !one.typeOnly)
    .map((one) => relative(source, resolve(dirname(file), one.specifier)));
}

/**
 * @param {string} file
 * @param {Import} one
 * @param {Package} own
 * @param {Map<string, Package>} packages
 * @returns {Generator<string>}
 */
function* complaintsOfImport(file, one, own, packages) {
  if (one.star) {
    yield `export * hides what becomes public. Name the exports of "${one.specifier}".`;
  }
  if (one.specifier.startsWith(".")) {
    yield* complaintsOfRelative(file, one, own);
    return;
  }
  const target = packages.get(packageOf(one.specifier) ?? "");
  if (target !== undefined) {
    yield* target === own ? complaintsOfSelf(file, one) : complaintsOfOurs(file, one, own, target);
  }
  if (testOnlyPackages.has(packageOf(one.specifier) ?? "") && !isTestFile(file)) {
    yield `imports ${one.specifier}, which tests alone may. Move the line into a .test.ts or .contract.ts file.`;
  }
  const builtins = roomTables[own.folder]?.builtins;
  if (builtins !== undefined && isBuiltin(one.specifier) && !builtins.includes(one.specifier) && !isTestFile(file)) {
    yield `imports ${one.specifier}. ${own.name} does no I/O: of Node it may use ${list(builtins)} alone.`;
  }
}

/**
 * @param {string} file
 * @param {Import} one
 * @param {Package} own
 * @returns {Generator<string>}
 */
function* complaintsOfRelative(file, one, own) {
  const target = resolve(dirname(file), one.specifier);
  const source = join(own.path, "src");
  if (isTestFile(file)) {
    if (!target.startsWith(`${own.path}/`)) {
      yield `reaches out of ${own.name} by a path ("${one.specifier}"). Import other packages by name.`;
    }
    return;
  }
  if (file.startsWith(`${source}/`) && !target.startsWith(`${source}/`)) {
    yield `reaches out of ${own.name}'s src by a path ("${one.specifier}"). Import other packages by name.`;
  }
  if (isTestFile(target)) {
    yield `imports the test file "${one.specifier}". What ships must not need what does not.`;
  }
  if (relative(source, target) === "index.ts") {
    yield `imports its own package's index.ts. Import the file that declares the name, else every file depends on all others.`;
  }
}

/**
 * By its own name a package is seen as users see it: right for a test or a bin, a detour anywhere else.
 * @param {string} file
 * @param {Import} one
 * @returns {Generator<string>}
 */
function* complaintsOfSelf(file, one) {
  if (!isTestFile(file) && file.includes("/src/")) {
    yield `imports its own package by name ("${one.specifier}"). Import the file that declares the name.`;
  }
}

/**
 * @param {string} file
 * @param {Import} one
 * @param {Package} own
 * @param {Package} target
 * @returns {Generator<string>}
 */
function* complaintsOfOurs(file, one, own, target) {
  const allowed = new Set([...(packageTable[own.folder] ?? []), ...(isTestFile(file) ? testTable : [])]);
  if (!allowed.has(target.folder)) {
    if (!allowed.has(`${target.folder}:types`)) {
      yield `${own.folder} must not import ${target.folder} (${one.specifier}). It may import: ${list(packageTable[own.folder])}.`;
    } else if (!one.typeOnly) {
      yield `${own.folder} may import types of ${target.folder} alone. Write \`import type\`, or move the line.`;
    }
  }
  yield* complaintsOfDoor(one, target);
  if (isTestFile(file)) {
    return;
  }
  if (runtimeDependencies(own.manifest)[target.name] === undefined) {
    yield `imports ${target.name}, which is not among the dependencies of packages/${own.folder}/package.json.`;
  }
  if (!own.references.includes(target.folder)) {
    yield `imports ${target.name}, which is not among the references of packages/${own.folder}/tsconfig.json.`;
  }
}

/**
 * Only what `exports` names is a door.
 * @param {Import} one
 * @param {Package} target
 * @returns {Generator<string>}
 */
function* complaintsOfDoor(one, target) {
  const door = `.${one.specifier.slice(target.name.length)}`;
  if (target.manifest.exports?.[door] === undefined) {
    yield `"${one.specifier}" is not a door of ${target.name}: its exports name ${list(Object.keys(target.manifest.exports ?? {}))}.`;
  }
}

/**
 * Benchmarks, tests and examples see what users see.
 * @param {string} root
 * @param {string} folder
 * @param {Map<string, Package>} packages
 * @returns {Generator<string>}
 */
function* complaintsOfOutsider(root, folder, packages) {
  const files = existsSync(join(root, folder)) ? filesUnder(join(root, folder), endings) : [];
  const found = files.flatMap((file) => importsOfFile(file).map((one) => ({ file, one })));
  for (const { file, one } of found) {
    const at = `${relative(root, file)}:${one.line}:`;
    const target = packages.get(packageOf(one.specifier) ?? "");
    const atDoor = target === undefined ? [] : [...complaintsOfDoor(one, target)];
    yield* atDoor.map((sentence) => `${at} ${sentence}`);
    if (one.specifier.startsWith(".") && relative(root, resolve(dirname(file), one.specifier)).startsWith("packages/")) {
      yield `${at} reaches into a package by a path ("${one.specifier}"). Import it by name.`;
    }
  }
}

/** @param {readonly string[] | undefined} names */
function list(names) {
  return names === undefined || names.length === 0 ? "nothing" : names.join(", ");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const complaints = checkRooms(resolve(process.argv[2] ?? repositoryRoot));
  for (const complaint of complaints) {
    console.log(complaint);
  }
  process.exitCode = complaints.length === 0 ? 0 : 1;
}
