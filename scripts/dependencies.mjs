/**
 * The dependency check: what is imported is declared, what is declared is imported, and every third-party package that users install, or
 * that builds this repository, has a line with its reason in ARCHITECTURE.md.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { filesUnder, importsOfFile, isTestFile, packageOf } from "./imports.mjs";

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {boolean} [private]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 */

/** @typedef {{ path: string, manifest: Manifest }} Member a workspace */

const endings = [".ts", ".mts", ".js", ".mjs"];

/**
 * @param {string} root
 * @returns {string[]}
 */
export function checkDependencies(root) {
  const rootManifest = readManifest(root);
  const members = memberFolders(root).map((path) => ({ path, manifest: readManifest(path) }));
  const ours = new Set(members.map((member) => member.manifest.name));
  const peers = new Map(members.map(({ manifest }) => [manifest.name, new Set(Object.keys(manifest.peerDependencies ?? {}))]));
  const complaints = members.flatMap((member) => [...complaintsOfMember(root, member, rootManifest, ours, peers)]);
  return [...complaints, ...complaintsOfRoot(root, rootManifest), ...complaintsOfReasons(root, rootManifest, members, ours)];
}

/**
 * @param {ReadonlyMap<string, ReadonlySet<string>>} peers
 * @param {string} name
 */
function isPeer(peers, name) {
  return [...peers.values()].some((ofOne) => ofOne.has(name));
}

/**
 * @param {string} path
 * @returns {Manifest}
 */
function readManifest(path) {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
}

/** @param {string} root */
function memberFolders(root) {
  const nested = ["packages", "examples"].filter((folder) => existsSync(join(root, folder)));
  const folders = nested.flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)));
  return [...folders, join(root, "bench"), join(root, "test")].filter((path) => existsSync(join(path, "package.json")));
}

/**
 * @param {string} root
 * @param {Member} member
 * @param {Manifest} rootManifest
 * @param {Set<string>} ours
 * @param {ReadonlyMap<string, ReadonlySet<string>>} peers what each of our packages asks its users to bring
 * @returns {Generator<string>}
 */
function* complaintsOfMember(root, { path, manifest }, rootManifest, ours, peers) {
  const used = new Set();
  /** @type {Record<string, string>} */
  const atRunTime = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
  /** @type {Record<string, string>} */
  const inTests = { ...atRunTime, ...manifest.devDependencies, ...rootManifest.devDependencies };
  const isPrivate = manifest.private === true; // the tests, the benchmarks, the examples: nothing is installed from them
  for (const file of filesUnder(path, endings)) {
    const judges = isTestFile(file) || isPrivate;
    const declared = judges ? inTests : atRunTime;
    for (const one of importsOfFile(file)) {
      const name = packageOf(one.specifier);
      used.add(name);
      const isKnown = name === null || name === manifest.name || (judges && ours.has(name)) || declared[name] !== undefined;
      if (!isKnown) {
        yield `${relative(root, file)}:${one.line}: imports ${name}, which ${relative(root, path)}/package.json does not declare.`;
      }
    }
  }
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
    // A package may bring the peers that those of ours ask for which it stands on. Private folders may link more of ours than they import.
    const isForOurs = Object.keys(manifest.dependencies ?? {}).some((of) => peers.get(of)?.has(name));
    const isForOthers =
      manifest.peerDependencies?.[name] !== undefined || isForOurs || (isPrivate && (ours.has(name) || isPeer(peers, name)));
    if (!used.has(name) && !isForOthers) {
      yield `${relative(root, path)}/package.json: declares ${name}, which nothing there imports. Remove it.`;
    }
  }
}

/**
 * The root ships nothing: each of its packages must be named by a script, a test or a configuration.
 * @param {string} root
 * @param {Manifest} manifest
 * @returns {Generator<string>}
 */
function* complaintsOfRoot(root, manifest) {
  if (manifest.dependencies !== undefined) {
    yield "package.json: has dependencies. The root ships nothing: they belong to a package, or to devDependencies.";
  }
  const configurations = ["package.json", "tsconfig.base.json", "vitest.config.ts"].map((name) => join(root, name));
  const scripts = filesUnder(join(root, "scripts"), [".mjs"]);
  const tests = ["packages", "test"].flatMap((folder) =>
    filesUnder(join(root, folder), [".test.ts", ".test-d.ts", "contract.ts", "seed.ts"]),
  );
  const text = [...scripts, ...tests, ...configurations]
    .map((path) => readFileSync(path, "utf8").replace(/"devDependencies":\s*\{[^}]*\}/, ""))
    .join("\n");
  for (const name of Object.keys(manifest.devDependencies ?? {})) {
    const words = [name, commandOf(name)].map((word) => new RegExp(`(?<![\\w@-])${word}(?![\\w-])`));
    if (!name.startsWith("@types/") && !words.some((word) => word.test(text))) {
      yield `package.json: declares ${name}, which no script, test or configuration names. Remove it.`;
    }
  }
}

/**
 * What a tool is called on the command line.
 * @param {string} name
 */
function commandOf(name) {
  /** @type {Record<string, string>} */
  const commands = { typescript: "tsc", "@biomejs/biome": "biome", "oxlint-tsgolint": "type-aware", "@arethetypeswrong/cli": "attw" };
  return commands[name] ?? name;
}

/**
 * @param {string} root
 * @param {Manifest} rootManifest
 * @param {readonly Member[]} members
 * @param {Set<string>} ours
 * @returns {Generator<string>}
 */
function* complaintsOfReasons(root, rootManifest, members, ours) {
  const architecture = existsSync(join(root, "ARCHITECTURE.md")) ? readFileSync(join(root, "ARCHITECTURE.md"), "utf8") : "";
  const users = new Map();
  for (const { manifest } of members) {
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.devDependencies })) {
      users.set(name, manifest.name);
    }
  }
  for (const name of Object.keys(rootManifest.devDependencies ?? {})) {
    users.set(name, "the root");
  }
  for (const [name, user] of users) {
    if (!ours.has(name) && !architecture.split("\n").some((line) => line.startsWith("|") && line.includes(`\`${name}\``))) {
      yield `ARCHITECTURE.md: gives no reason for ${name}, which ${user} needs. Add a row to "Dependencies".`;
    }
  }
}
