import { silentLogger } from "@cdckit/consumer";
import { type BrokerQuestions, placeOf } from "@cdckit/driver";
import type { EachBatchPayload } from "kafkajs";
import { expect, test } from "vitest";
import { type Held, HeldPartitions } from "./assignments.ts";
import { PartitionReader, type PartitionReaderParts } from "./partition-reader.ts";
import { TopicRecheck } from "./topic-recheck.ts";

/**
 * What becomes of a batch at another offset than the expected one, if the log ends there and brokers say this of the topic, before and after.
 */
async function outcomeOf(
  before: string | null,
  after: string | null,
  high: bigint = 0n,
  { low = 0n, isBusy = false }: { readonly low?: bigint; readonly isBusy?: boolean } = {},
): Promise<readonly string[]> {
  const did: string[] = [];
  const assignments = new HeldPartitions();
  const [assignment] = assignments.renew({ t: [0] });
  const held = assignment === undefined ? undefined : assignments.held(assignment);
  if (held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  Object.assign(held, { isStarting: false, expected: 214n, handledTo: 210n });
  held.assignment.topicId = "old";
  let id = before;
  const brokers = {
    topicIds: async () => new Map(id === null ? [] : [["t", id]]),
    ends: async () => {
      id = after;
      return new Map([[placeOf("t", 0), { low, high }]]);
    },
  } as unknown as BrokerQuestions; // as much as is asked
  const fail = (error: Error): void => void did.push(`failed: ${error.message.slice(0, 21)}`);
  const recreated = (): void => {
    did.push("recreated");
    held.isOver = true;
  };
  const topicCheck = new TopicRecheck({ brokers, groupId: "g", assignments, logger: silentLogger, recreated, failed: fail });
  const parts = {
    brokers,
    subscription: { logger: silentLogger, groupId: "g", lostRange: "earliest" },
    assignments,
    topicCheck,
    commits: { noteRead: () => {}, putBackHandled: async ({ handledTo }: Held) => void did.push(`put back ${handledTo}`) },
    control: { seek: (_: unknown, offset: bigint) => did.push(`sought ${offset}`), hold: () => did.push("held") },
    handOver: { isBusy: () => isBusy },
    sink: { skipped: (_: unknown, __: unknown, offset: bigint) => did.push(`goes on at ${offset}`) },
    kept: null,
    fail,
  } as unknown as PartitionReaderParts; // as much as is asked
  const batch = { topic: "t", partition: 0, fetchedOffset: "0", messages: [] };
  await new PartitionReader(parts).take({ batch, isStale: () => false } as unknown as EachBatchPayload);
  topicCheck.stop();
  return did;
}

test("a log that ends before the position is that of the topic only if the brokers know it before and after", async () => {
  expect(await outcomeOf("old", "old")).toEqual(["put back 210", "failed: [offset-out-of-range]"]);
  expect(await outcomeOf("old", "new")).toEqual(["recreated"]);
  expect(await outcomeOf(null, "new")).toEqual(["recreated"]);
  expect(await outcomeOf(null, null)).toEqual([]);
});

test("a lost range is passed only when all that was fetched before it is handed over", async () => {
  expect(await outcomeOf("old", "old", 400n, { low: 300n })).toEqual(["put back 210", "goes on at 300", "sought 300"]);
  expect(await outcomeOf("old", "old", 400n, { low: 300n, isBusy: true })).toEqual(["put back 210", "held", "sought 214"]);
});

test("if the log has the position, as after the answer of a replica that is behind, kafkajs and the group are moved back to it", async () => {
  expect(await outcomeOf("old", "old", 300n)).toEqual(["put back 210", "sought 214"]);
  expect(await outcomeOf("old", "new", 300n), "the log of another topic").toEqual(["recreated"]);
  expect(await outcomeOf("old", null, 300n), "the log of a topic that nobody knows now").toEqual([]);
});
