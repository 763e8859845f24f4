/**
 * `node scripts/bench-peers.mjs`: installs the peers of `npm run bench` that are no dependencies of this repository: Confluent's client, as
 * scripts/confluent-client.mjs does, and @confluentinc/schemaregistry, which brings the key services of three clouds (280 packages, 170 MB).
 * Without them, their rows say that they were not run. kcat is a package of the system: `apt-get install kcat`.
 */
import { readArguments } from "./arguments.mjs";
import { linkCachedPackage } from "./cached-package.mjs";

readArguments(
  "usage: node scripts/bench-peers.mjs\n\n  installs the peers of npm run bench that are no dependencies of this repository",
  {},
);
await import("./confluent-client.mjs");

const version = "1.10.1";
linkCachedPackage({
  name: "@confluentinc/schemaregistry",
  version,
  folder: `confluent-schemaregistry-${version}`,
  note: "170 MB",
});
