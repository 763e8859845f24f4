import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npm, type PackageFolder, packageAt, publishedPackages } from "../../scripts/tarballs.mjs";

export const root: string = join(import.meta.dirname, "../..");

/**
 * The packages that npm installs with the named ones, as they are found in this repository: tests do not ask a registry.
 */
export function closureOf(names: readonly string[]): readonly PackageFolder[] {
  const found = new Map<string, PackageFolder>();
  const visit = (name: string, from: string): void => {
    const one = resolvePackage(name, from);
    if (found.get(one.path) === undefined) {
      found.set(one.path, one);
      const { dependencies, peerDependencies } = one.manifest;
      for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
        visit(dependency, one.path);
      }
    }
  };
  for (const name of names) {
    visit(name, root);
  }
  return [...found.values()];
}

/** Where Node would find a package from a folder. */
function resolvePackage(name: string, from: string): PackageFolder {
  const ours = publishedPackages().find(({ manifest }) => manifest.name === name);
  if (ours !== undefined) {
    return ours;
  }
  for (let folder = from; folder.startsWith(root); folder = join(folder, "..")) {
    if (existsSync(join(folder, "node_modules", name, "package.json"))) {
      return packageAt(join(folder, "node_modules", name));
    }
  }
  throw new Error(`${name} is not installed: run npm ci`);
}

/** Installs tarballs into an empty folder, without a registry. */
export function installTarballs(tarballs: readonly string[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{ "name": "app", "private": true, "type": "module" }\n`);
  npm(["install", ...tarballs, "--offline", "--no-audit", "--no-fund", "--ignore-scripts"], folder);
}

/** What is under a node_modules folder: the number of packages and of files, and the size of all files in bytes. */
export function measureInstalled(folder: string): { readonly packages: number; readonly files: number; readonly bytes: number } {
  const lock = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as { packages: Record<string, unknown> };
  const sizes = sizesUnder(join(folder, "node_modules"));
  return { packages: Object.keys(lock.packages).length, files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

function sizesUnder(folder: string): number[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sizesUnder(path) : [statSync(path).size];
  });
}
