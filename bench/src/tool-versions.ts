import { spawnSync } from "node:child_process";
import { versions } from "../../scripts/stack/versions.mjs";

/** What is measured and is no package of npm. */
export function toolVersions(): Readonly<Record<string, string>> {
  const java = process.env["JAVA_HOME"] === undefined ? "java" : `${process.env["JAVA_HOME"]}/bin/java`;
  const found = {
    "Apache Kafka": versions.kafka,
    Java: printed(java, "-version", /version "([^"]+)"/),
    kcat: printed("kcat", "-V", /Version (\S+) \(.*librdkafka (\S+)/),
  };
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The version that a program prints, or null if it is not installed. */
function printed(command: string, flag: string, version: RegExp): string | null {
  const { stdout, stderr } = spawnSync(command, [flag], { encoding: "utf8" });
  return version.exec(`${stdout}${stderr}`)?.slice(1).join(" with librdkafka ") ?? null;
}
