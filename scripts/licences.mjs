/** The check of licences: every package that package-lock.json installs has one that is allowed for where it goes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Of what users install with our packages. */
const allowedForUsers = new Set([
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "MIT OR Apache-2.0",
  "MIT AND BSD-3-Clause",
]);
/** Of what only builds and tests: nothing of it is in a package of ours. */
const allowedForTools = new Set([...allowedForUsers, "BlueOak-1.0.0", "CC0-1.0", "MPL-2.0", "Python-2.0"]);
/** Packages whose manifests name none, with where it is named. */
const namedElsewhere = new Map([["@kafkajs/confluent-schema-registry", { licence: "MIT", file: "LICENSE" }]]);

/**
 * @typedef {object} LockedPackage
 * @property {string} [license]
 * @property {boolean} [dev]
 * @property {boolean} [link]
 */

/**
 * The packages whose licence is not allowed, as lines of text.
 * @param {string} root
 * @returns {string[]}
 */
export function checkLicences(root) {
  const lock = join(root, "package-lock.json");
  /** @type {Record<string, LockedPackage>} */
  const packages = existsSync(lock) ? JSON.parse(readFileSync(lock, "utf8")).packages : {};
  return Object.entries(packages).flatMap(([path, { license, dev = false, link = false }]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const licence = license ?? namedElsewhere.get(name)?.licence ?? "none";
    const isOurs = link || !path.includes("node_modules/");
    const isAllowed = isOurs || (dev ? allowedForTools : allowedForUsers).has(licence);
    return isAllowed
      ? []
      : [`package-lock.json: ${path} has the licence ${licence}, which is not allowed for ${dev ? "a tool" : "what users install"}.`];
  });
}
