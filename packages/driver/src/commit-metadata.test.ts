import type { PartitionAssignment } from "@cdckit/consumer";
import { expect, test } from "vitest";
import { commitMetadata, originOf } from "./commit-metadata.ts";
import { isReplacedIn, type Landmark, landmarkBefore, noteLandmarks } from "./landmarks.ts";

const place = { topic: "t", partition: 0, epoch: 1 };
const record = (offset: number, timestamp = `${1_000 + offset}`, leaderEpoch = 3): Landmark => ({
  offset: BigInt(offset),
  timestamp,
  leaderEpoch,
});

function assignmentThatRead(...batches: readonly (readonly [first: number, last: number])[]): PartitionAssignment {
  const assignment = { ...place };
  for (const [first, last] of batches) {
    noteLandmarks(assignment, record(first), record(last));
  }
  return assignment;
}

test("a topic id is written and read back", () => {
  const topicId = "AbC-_1234567890abcdefg";
  expect(originOf(commitMetadata({ ...place, topicId }, 5n))).toEqual({ topicId, landmark: null });
});

test("what a commit says survives Confluent's client, which writes a zero after it and cuts the last character off what others have written", () => {
  const topicId = "AbC-_1234567890abcdefg";
  for (const assignment of [{ ...place, topicId }, assignmentThatRead([0, 9])]) {
    const metadata = commitMetadata(assignment, 10n) ?? "";
    for (const read of [`${metadata}\0`, metadata.slice(0, -1)]) {
      expect(originOf(read)).toEqual(originOf(metadata));
    }
  }
  expect(originOf(commitMetadata(assignmentThatRead([0, 9]), 10n)).landmark).not.toBeNull();
});

test("without a topic id, the last record known before the offset is", () => {
  const assignment = assignmentThatRead([0, 9], [10, 19]);
  const landmarks = [1n, 10n, 15n, 20n].map((offset) => originOf(commitMetadata(assignment, offset)).landmark);
  expect(landmarks.map((landmark) => landmark?.offset)).toEqual([0n, 9n, 10n, 19n]);
  expect(landmarks[3]).toEqual({ offset: 19n, timestamp: "1019", leaderEpoch: 3 });
  expect(commitMetadata(assignmentThatRead([5, 9]), 5n)).toBe(null);
});

test("a look at what was fetched does not take the record from the commits of what is handled", () => {
  const assignment = assignmentThatRead([0, 2_999]);
  expect(landmarkBefore(assignment, 3_000n)?.offset).toBe(2_999n);
  expect(commitMetadata(assignment, 1_501n)).toBe("cdckit/1 after=0:1000:3;");
});

test.each([null, undefined, "", "cdckit/1 topic=short", "cdckit/2 topic=AbC-_1234567890abcdefg", "cdckit/1 after=1:2", "x".repeat(4_096)])(
  "what others have written says nothing: %s",
  (metadata) => {
    expect(originOf(metadata)).toEqual({ topicId: null, landmark: null });
  },
);

test("a record of another time or leader stands elsewhere; one that is not there says nothing", () => {
  const landmark = { offset: 7n, timestamp: "1007", leaderEpoch: 3 };
  const found = [[record(7)], [record(7, "9")], [record(7, "1007", 0)], [record(8)], []];
  expect(found.map((records) => isReplacedIn(records, landmark))).toEqual([false, true, true, false, false]);
});
