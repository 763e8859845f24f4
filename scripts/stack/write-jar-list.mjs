// Rewrites jars.sha256 from what Maven delivers now: run it after a change of versions.mjs, and read the diff.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { download, jarListFile, sha256 } from "./jars.mjs";
import { debeziumJars, debeziumMariadbJars, kafkaJars, mariadbJars, oldKafkaJars, registryJars } from "./versions.mjs";

const work = mkdtempSync(join(tmpdir(), "cdckit-jars-"));
const lines = [];
for (const set of [kafkaJars, debeziumJars, registryJars, debeziumMariadbJars, mariadbJars, oldKafkaJars]) {
  const folder = join(work, set.name);
  await download(set, folder, { log: console.error });
  for (const file of readdirSync(folder).sort()) {
    lines.push(`${await sha256(join(folder, file))}  ${set.name}/${file}`);
  }
}
writeFileSync(jarListFile, `${lines.join("\n")}\n`);
rmSync(work, { recursive: true, force: true });
console.error(`wrote ${lines.length} files to ${jarListFile}`);
