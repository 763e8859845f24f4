import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, totalmem } from "node:os";

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

export function describeEnvironment(): Environment {
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
    },
  };
}

/** The version of this program. */
export function benchVersion(): string {
  return versionIn(new URL("../../package.json", import.meta.url));
}

/** One line for the foot of a text report. */
export function environmentLine({ cpu, cores, node, platform, versions }: Environment): string {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${cpu}, ${cores} cores, ${platform}, Node ${node}, ${packages.join(", ")}`;
}

function versionIn(packageFile: URL | string): string {
  return (JSON.parse(readFileSync(packageFile, "utf8")) as { readonly version: string }).version;
}
