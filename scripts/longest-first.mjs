/** The order of test files: one that takes minutes must not be the last to begin. */
import { BaseSequencer } from "vitest/node";

/** Those that take longest, the longest first; of the others, vitest knows as much. */
const longest = [
  "test/chaos/chaos.test.ts",
  "test/packaging/packed.test.ts",
  "test/chaos/stop.test.ts",
  "packages/cdc-bench/src/cli/binary.test.ts",
  "test/integration/kafkajs-driver.test.ts",
  "test/fuzz/campaign.test.ts",
  "test/integration/examples.test.ts",
  "test/chaos/black-hole.test.ts",
  "test/simulation/simulation.test.ts",
];

export class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {Parameters<BaseSequencer["sort"]>[0]} files
   */
  async sort(files) {
    const sorted = await super.sort(files);
    const placeOf = (/** @type {{ moduleId: string }} */ { moduleId }) => {
      const place = longest.findIndex((file) => moduleId.endsWith(file));
      return place === -1 ? longest.length : place;
    };
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
