/** The order of test files: one that takes long must not be the last to begin, and one that waits leaves its core to one that computes. */
import { BaseSequencer } from "vitest/node";

/** Takes minutes, and waits for most of them. */
const chaos = "test/chaos/chaos.test.ts";

/** Those that take longest, the longest first; of the others, vitest knows as much. */
const longest = [
  chaos,
  "test/commands/cdc-bench-drain.test.ts",
  "test/commands/cdc-bench-snapshot.test.ts",
  "test/commands/ui.test.ts",
  "test/commands/cdc-bench-roundtrip.test.ts",
  "test/chaos/pipe.test.ts",
  "packages/cdc-bench/src/cli/binary.test.ts",
  "test/integration/process-end.test.ts",
  "test/integration/kafkajs-driver.test.ts",
  "test/integration/kafkajs-contract.test.ts",
  "test/commands/cdc-bench-produce.test.ts",
  "test/commands/cdc-bench-redrive.test.ts",
  "test/commands/example-migrate.test.ts",
  "test/integration/start-errors.test.ts",
  "test/integration/leaderless.test.ts",
  "test/commands/cdc-bench-offsets.test.ts",
  "test/commands/cdc-bench-secured.test.ts",
  "test/packaging/packed.test.ts",
  "test/integration/platformatic-racks.test.ts",
  "test/fuzz/planted-bugs.test.ts",
  "test/commands/cdc-bench-compare.test.ts",
  "test/services/services.test.ts",
  "test/integration/platformatic-driver.test.ts",
  "test/commands/report.test.ts",
  "test/commands/example-replicate-postgres.test.ts",
  "test/integration/platformatic-contract.test.ts",
  "test/fuzz/campaign.test.ts",
  "packages/cdc-bench/src/cli/every-command.test.ts",
  "test/integration/kafkajs-wire.test.ts",
  "test/integration/confluent-contract.test.ts",
  "test/integration/kafkajs-rack.test.ts",
  "test/integration/dead-connections.test.ts",
  "test/integration/postgres-consumer.test.ts",
  "test/integration/recreated-topic.test.ts",
  "test/simulation/simulation.test.ts",
  "test/integration/platformatic-consumer-groups.test.ts",
  "test/integration/examples.test.ts",
  "test/contract/format-contract.test.ts",
  "test/contract/recordings.test.ts",
  "packages/consumer/src/consumer-user-code.test.ts",
  "test/contract/inspect.test.ts",
];

/** @typedef {{ moduleId: string, project: { name: string } }} TestFile */

export class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {Parameters<BaseSequencer["sort"]>[0]} files
   */
  async sort(files) {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => turnOf(a) - turnOf(b) || placeOf(a) - placeOf(b));
  }
}

/**
 * The chaos, and beside it the files that only compute; those that start processes of their own come last. Files of one turn stay together:
 * a process that files share ends when a file comes that wants its own.
 * @param {TestFile} file
 */
function turnOf({ moduleId, project }) {
  if (moduleId.endsWith(chaos)) {
    return 0;
  }
  return project.name === "values" ? 1 : 2;
}

/** @param {TestFile} file */
function placeOf({ moduleId }) {
  const place = longest.findIndex((file) => moduleId.endsWith(file));
  return place === -1 ? longest.length : place;
}
