import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, cpus, loadavg, platform, release, totalmem } from "node:os";

/** What a figure depends on besides the code. */
export interface Environment {
  readonly date: string;
  readonly commit: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  readonly v8: string;
  readonly loadAverage: number;
  readonly versions: Readonly<Record<string, string>>;
}

const measuredPackages = [
  "@cdckit/decode",
  "avsc",
  "kafkajs",
  "@kafkajs/confluent-schema-registry",
  "@platformatic/kafka",
  "@confluentinc/kafka-javascript",
  "@confluentinc/schemaregistry",
] as const;

export function environment(): Environment {
  const cores = cpus();
  return {
    date: new Date().toISOString(),
    commit: commit(),
    cpu: cores[0]?.model ?? "unknown",
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    v8: process.versions.v8,
    loadAverage: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    versions: Object.fromEntries(measuredPackages.map((name) => [name, versionOf(name)]).filter(([, version]) => version !== null)),
  };
}

function commit(): string {
  try {
    const revision = execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8" }).trim();
    const isDirty = execFileSync("git", ["status", "--porcelain"], { encoding: "utf8" }).trim() !== "";
    return isDirty ? `${revision} with uncommitted changes` : revision;
  } catch {
    return "unknown"; // not a checkout: a packed copy
  }
}

/** Read from the package's folder: not every package exports its package.json. */
function versionOf(name: string): string | null {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(`${folder}/${name}/package.json`, "utf8")) as { version: string }).version;
    } catch {
      // not in this folder: the next one
    }
  }
  return null; // not installed: some peers are not
}
