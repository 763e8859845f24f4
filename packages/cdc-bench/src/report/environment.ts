import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../package-root.ts";

/** On what a figure was measured: without it a figure means nothing. */
export interface Environment {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly node: string;
  readonly versions: Readonly<Record<string, string>>;
}

const require = createRequire(import.meta.url);

/** @param peers versions of what else was measured, by {@link versionsOf} */
export function describeEnvironment(peers: Readonly<Record<string, string>> = {}): Environment {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryBytes: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    versions: {
      "cdc-bench": benchVersion(),
      kafkajs: versionIn(require.resolve("kafkajs/package.json")),
      avsc: versionIn(require.resolve("avsc/package.json")),
      ...peers,
    },
  };
}

/** The versions of packages that this program depends on. */
export function versionsOf(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, versionIn(manifestOf(name))]));
}

/** Looks in the folders in which Node looks: some packages export neither their package.json nor anything for `require`. */
function manifestOf(name: string): string {
  const candidates = (require.resolve.paths(name) ?? []).map((folder) => join(folder, name, "package.json"));
  const file = candidates.find((candidate) => existsSync(candidate));
  if (file === undefined) {
    throw new Error(`${name} is not installed, although cdc-bench depends on it`);
  }
  return file;
}

/** The version of this program. */
export function benchVersion(): string {
  return versionIn(new URL("package.json", packageRoot));
}

/** One line for the foot of a text report. */
export function environmentLine({ cpu, cores, node, platform, versions }: Environment): string {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${cpu}, ${cores} cores, ${platform}, Node ${node}, ${packages.join(", ")}`;
}

function versionIn(packageFile: URL | string): string {
  return (JSON.parse(readFileSync(packageFile, "utf8")) as { readonly version: string }).version;
}
