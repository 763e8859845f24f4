import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

export const root: string = join(import.meta.dirname, "../..");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A folder that holds a package.json: one of ours, or one of node_modules. */
export interface PackageFolder {
  readonly path: string;
  readonly manifest: Manifest;
}

/** What this repository publishes. */
export function publishedPackages(): readonly PackageFolder[] {
  return readdirSync(join(root, "packages"))
    .map((folder) => packageAt(join(root, "packages", folder)))
    .filter(({ manifest }) => manifest.private !== true);
}

function packageAt(path: string): PackageFolder {
  return { path, manifest: JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest };
}

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

/** Packs packages as `npm publish` would, into one folder. Returns the tarballs in the order of the packages. */
export function pack(packages: readonly PackageFolder[], folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const paths = packages.map(({ path }) => path);
  const text = npm(["pack", ...paths, "--json", "--ignore-scripts", "--pack-destination", folder], root);
  const packed = JSON.parse(text) as readonly { readonly filename: string }[];
  return packed.map(({ filename }) => join(folder, filename));
}

/** Installs tarballs into an empty folder, without a registry. */
export function installTarballs(tarballs: readonly string[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{ "name": "app", "private": true, "type": "module" }\n`);
  npm(["install", ...tarballs, "--offline", "--no-audit", "--no-fund", "--ignore-scripts"], folder);
}

function npm(args: readonly string[], folder: string): string {
  const { status, stdout, stderr } = spawnSync("npm", [...args, "--loglevel=error"], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    // npm hands its own settings to what it starts; those of `npm test` are not those of a user's project.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_cache)/.test(name))),
  });
  if (status !== 0) {
    throw new Error(`npm ${args[0]} ended with code ${status}\n${stdout}\n${stderr}`);
  }
  return stdout;
}

/** Number of packages under a node_modules folder, and their size in bytes. */
export function measureInstalled(folder: string): { readonly packages: number; readonly bytes: number } {
  const lock = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as { packages: Record<string, unknown> };
  return { packages: Object.keys(lock.packages).length, bytes: bytesUnder(join(folder, "node_modules")) };
}

function bytesUnder(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesUnder(path) : statSync(path).size;
  }
  return bytes;
}
