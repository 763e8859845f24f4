import { expect, test } from "vitest";
import { type FetchedTopics, hideAborted } from "./hide-aborted.ts";

const zeros = Buffer.alloc(4); // as the key of an abort marker
const commitKey = Buffer.from([0, 0, 0, 1]);

interface Written {
  readonly by: string;
  readonly isMarker?: boolean;
  readonly key?: Buffer | null;
  readonly inTransaction?: boolean;
}

/** The offsets of the records from 10 on that kafkajs hands over, if this was fetched. */
function handedOver(written: readonly Written[], aborted: readonly (readonly [producerId: string, firstOffset: string])[]): number[] {
  const messages = written.map(({ by, isMarker = false, key = isMarker ? zeros : null, inTransaction = true }, i) => ({
    offset: String(10 + i),
    key,
    isControlRecord: isMarker,
    batchContext: { producerId: by, inTransaction },
  }));
  const partition = { messages, abortedTransactions: aborted.map(([producerId, firstOffset]) => ({ producerId, firstOffset })) };
  const fetched: FetchedTopics = { responses: [{ topicName: "t", partitions: [partition] }] };
  hideAborted(fetched);
  expect(partition.abortedTransactions, "kafkajs has nothing left to hide").toEqual([]);
  return messages.flatMap(({ offset, isControlRecord }) => (isControlRecord ? [] : [Number(offset)]));
}

test("transactions that lie within each other are hidden from the first record of each to its own marker", () => {
  const written = [
    { by: "1" },
    { by: "1" },
    { by: "2" },
    { by: "2", isMarker: true },
    { by: "1" },
    { by: "1", isMarker: true },
    { by: "1" },
  ];
  const byEnd = [["2", "12"] as const, ["1", "10"] as const];
  expect(handedOver(written, byEnd)).toEqual([16]);
});

test("several transactions that begin at or before one record are all aborted", () => {
  const written = [{ by: "3" }, { by: "1" }, { by: "2" }, { by: "1", isMarker: true }, { by: "1" }];
  expect(handedOver(written, [["1", "9"] as const, ["2", "8"] as const])).toEqual([10, 14]);
});

test("a record whose key is four zero bytes ends nothing, and neither does the marker of a commit", () => {
  const written = [{ by: "1", key: zeros }, { by: "1" }, { by: "1", isMarker: true, key: commitKey }, { by: "1" }];
  expect(handedOver(written, [["1", "10"]])).toEqual([]);
});

test("records outside of transactions stay, also those of a producer whose transaction is aborted", () => {
  const written = [{ by: "1" }, { by: "1", inTransaction: false }, { by: "-1", inTransaction: false }];
  expect(handedOver(written, [["1", "10"]])).toEqual([11, 12]);
});
