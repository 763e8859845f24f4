/** The order of test files: one that takes long must not be the last to begin. */
import { BaseSequencer } from "vitest/node";

/** Those that take longest, the longest first; of the others, vitest knows as much. */
const longest = [
  "test/chaos/chaos.test.ts",
  "packages/cdc-bench/src/cli/binary.test.ts",
  "test/chaos/stop.test.ts",
  "test/integration/kafkajs-driver.test.ts",
  "test/integration/kafkajs-contract.test.ts",
  "test/fuzz/campaign.test.ts",
  "test/integration/examples.test.ts",
  "test/chaos/black-hole.test.ts",
  "test/integration/cdc-bench-secured.test.ts",
  "test/simulation/simulation.test.ts",
  "test/packaging/packed.test.ts",
  "test/contract/format-contract.test.ts",
  "test/contract/recordings.test.ts",
];

/** @typedef {{ moduleId: string, project: { name: string } }} TestFile */

export class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {Parameters<BaseSequencer["sort"]>[0]} files
   */
  async sort(files) {
    const sorted = await super.sort(files);
    // Project by project: a process that files share ends when a file comes that wants its own.
    return sorted.toSorted((a, b) => a.project.name.localeCompare(b.project.name) || placeOf(a) - placeOf(b));
  }
}

/** @param {TestFile} file */
function placeOf({ moduleId }) {
  const place = longest.findIndex((file) => moduleId.endsWith(file));
  return place === -1 ? longest.length : place;
}
