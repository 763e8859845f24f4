/**
 * Bundles the JavaScript of each package into few files of its `dist`. With one file a source, half of the time that a command of
 * `cdc-bench` takes went into finding and reading some 600 of them. What a source imports when it is first needed stays a file of its own.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";

/**
 * What processes and threads are started with, beside each package's own entry. All files lie in `dist` itself, so that
 * `new URL("./worker-program.js", import.meta.url)` is right in whichever file it ends up.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const programs = {
  consumer: ["workers/worker-program.ts"],
  "cdc-bench": [
    "main.ts",
    "scenario/http/server-process.ts",
    "scenario/processes/group-member.ts",
    "scenario/roundtrip/thread-worker.ts",
    "scenario/soak/soak-worker.ts",
  ],
};

/**
 * Bundles every package of the repository. Files that are as they should be are not touched: a process may be reading them.
 * @param {string} root
 */
export function bundlePackages(root) {
  for (const name of readdirSync(join(root, "packages"))) {
    bundlePackage(join(root, "packages", name), programs[name] ?? []);
  }
}

/**
 * @param {string} folder
 * @param {readonly string[]} ownPrograms
 */
function bundlePackage(folder, ownPrograms) {
  // Loaded here: in a fresh clone this module is imported before anything is installed.
  /** @type {typeof import("esbuild")} */
  const { buildSync } = createRequire(import.meta.url)("esbuild");
  const output = join(folder, "dist");
  const { outputFiles } = buildSync({
    absWorkingDir: folder,
    entryPoints: ["index.ts", ...ownPrograms].map((file) => join("src", file)),
    outdir: output,
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    packages: "external", // each package is installed by itself, and its classes are one
    format: "esm",
    platform: "node",
    target: "node20.19",
    sourcemap: true,
    sourcesContent: false, // `src` is published, too
    write: false,
    logLevel: "silent", // what is wrong is thrown
  });
  mkdirSync(output, { recursive: true });
  const wanted = new Set(outputFiles.map(({ path }) => relative(output, path)));
  for (const { path, contents } of outputFiles) {
    if (!existsSync(path) || !readFileSync(path).equals(contents)) {
      writeFileSync(path, contents);
    }
  }
  for (const name of readdirSync(output)) {
    if (/\.js(\.map)?$/.test(name) && !wanted.has(name)) {
      rmSync(join(output, name), { force: true }); // another build may have been faster
    }
  }
}
