import { describe, expect, test } from "vitest";
import { commitsIn, commitsThatWentBack, lastCommits } from "./group-commits.ts";

/** As Kafka 4.3's formatter writes them: nothing between the documents, and a log line after the last. */
const output =
  '{"key":{"type":1,"data":{"group":"pipe","topic":"rows","partition":1}},"value":{"version":4,"data":{"offset":25,"leaderEpoch":-1,"metadata":"cdckit/1 topic=p2i10lqCRVGvTwovjnZpjg","commitTimestamp":1795437284052}}}' +
  '{"key":{"type":1,"data":{"group":"pipe","topic":"rows","partition":2}},"value":{"version":4,"data":{"offset":25,"leaderEpoch":-1,"metadata":"{\\"key\\":{\\"}","commitTimestamp":1795437284069}}}' +
  '{"key":{"type":1,"data":{"group":"other","topic":"rows","partition":1}},"value":{"version":4,"data":{"offset":7,"leaderEpoch":-1,"metadata":"","commitTimestamp":1795437284251}}}' +
  '{"key":{"type":1,"data":{"group":"pipe","topic":"others","partition":1}},"value":{"version":4,"data":{"offset":8,"leaderEpoch":-1,"metadata":"","commitTimestamp":1795437284251}}}' +
  '{"key":{"type":1,"data":{"group":"pipe","topic":"rows","partition":2}},"value":null}' +
  '{"key":{"type":1,"data":{"group":"pipe","topic":"rows","partition":1}},"value":{"version":4,"data":{"offset":50,"leaderEpoch":-1,"metadata":"","commitTimestamp":1795437353587}}}' +
  "2026-11-23T12:35:59.952278170Z main ERROR Error processing message, terminating consumer process: \norg.apache.kafka.common.errors.TimeoutException\n";

describe("the commits of a group", () => {
  test("are those of its topic, in their order", () => {
    expect(commitsIn(output, "pipe", "rows")).toEqual([
      { partition: 1, offset: 25n },
      { partition: 2, offset: 25n },
      { partition: 1, offset: 50n },
    ]);
  });

  test("are none if the tool found none", () => {
    expect(commitsIn("2026-11-23T12:35:59.952278170Z main ERROR\n", "pipe", "rows")).toEqual([]);
  });

  test("may stay where they are and go on", () => {
    expect(commitsThatWentBack(commitsAt([1, 5n], [2, 3n], [1, 5n], [1, 6n]))).toEqual([]);
  });

  test("are told of for each partition if they went back", () => {
    expect(commitsThatWentBack(commitsAt([1, 5n], [2, 9n], [1, 4n], [1, 7n], [1, 6n], [2, 8n]))).toEqual([
      "the group's commit of 1 went back 2 times in its coordinator's log: from 5 to 4, from 7 to 6",
      "the group's commit of 2 went back 1 times in its coordinator's log: from 9 to 8",
    ]);
  });

  test("leave each partition where the last one is", () => {
    expect(lastCommits(commitsAt([1, 5n], [2, 9n], [1, 4n]))).toEqual(
      new Map([
        [1, 4n],
        [2, 9n],
      ]),
    );
  });
});

function commitsAt(...commits: readonly (readonly [number, bigint])[]): { partition: number; offset: bigint }[] {
  return commits.map(([partition, offset]) => ({ partition, offset }));
}
