import { silentLogger } from "@cdckit/consumer";
import { type BrokerQuestions, placeOf } from "@cdckit/driver";
import type { EachBatchPayload } from "kafkajs";
import { expect, test } from "vitest";
import { type Held, HeldPartitions } from "./assignments.ts";
import { PartitionReader, type PartitionReaderParts } from "./partition-reader.ts";
import { TopicRecheck } from "./topic-recheck.ts";

interface Log {
  readonly low?: bigint;
  readonly high?: bigint;
  readonly isBusy?: boolean;
  /** Where a batch that came by another way moves the position while the brokers are asked. */
  readonly movesTo?: bigint;
}

/** A reader that expects offset 214, and what becomes of it if brokers say this of the topic before and after they say how long its log is. */
function setUp(before: string | null, after: string | null, { low = 0n, high = 0n, isBusy = false, movesTo = 214n }: Log = {}) {
  const did: string[] = [];
  const assignments = new HeldPartitions();
  const [assignment] = assignments.renew({ t: [0] });
  const held = assignment === undefined ? undefined : assignments.held(assignment);
  if (held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  Object.assign(held, { isStarting: false, expected: 214n });
  held.assignment.topicId = "old";
  let id = before;
  const brokers = {
    topicIds: async () => new Map(id === null ? [] : [["t", id]]),
    ends: async () => {
      id = after;
      held.expected = movesTo;
      return new Map([[placeOf("t", 0), { low, high }]]);
    },
  } as unknown as BrokerQuestions; // as much as is asked
  const fail = (error: Error): void => void did.push(`failed: ${error.message.slice(0, 21)}`);
  const recreated = (): void => {
    did.push("recreated");
    held.isOver = true;
  };
  const topicCheck = new TopicRecheck({ brokers, groupId: "g", assignments, logger: silentLogger, recreated, failed: fail });
  const control = {
    seek: (_: unknown, offset: bigint) => did.push(`sought ${offset}`),
    hold: () => did.push("held"),
    setOutOfRange: (one: Held, isOutOfRange: boolean) => {
      one.isOutOfRange = isOutOfRange;
      did.push(isOutOfRange ? "stopped" : "let go");
    },
  };
  const parts = {
    brokers,
    subscription: { logger: silentLogger, groupId: "g", lostRange: "earliest" },
    assignments,
    topicCheck,
    control,
    heartbeats: { during: <Result>(work: Promise<Result>) => work },
    handOver: { isBusy: () => isBusy, take: ({ nextOffset }: { readonly nextOffset: bigint }) => did.push(`passed to ${nextOffset}`) },
    sink: { skipped: (_: unknown, __: unknown, offset: bigint) => did.push(`goes on at ${offset}`) },
    kept: { take: () => ({ topic: "t", partition: 0, fromOffset: 0n }) },
    waits: {
      failed: (_: unknown, cause: Error) => did.push(cause.message.replace(/.*out of range, /, "waits: ")),
      end: () => did.push("found"),
    },
    quietMs: 300,
    fail,
  } as unknown as PartitionReaderParts; // as much as is asked
  return { reader: new PartitionReader(parts), did, topicCheck, held };
}

/** What becomes of a batch at another offset than the expected one. */
async function outcomeOf(...[before, after, log]: Parameters<typeof setUp>): Promise<readonly string[]> {
  const { reader, did, topicCheck } = setUp(before, after, log);
  const batch = { topic: "t", partition: 0, messages: [{ key: null, value: null }] };
  await reader.take({ batch, isStale: () => false } as unknown as EachBatchPayload);
  topicCheck.stop();
  return did;
}

/** What becomes of an offset that is out of range. */
async function outcomeOutOfRange(...[before, after, log]: Parameters<typeof setUp>): Promise<readonly string[]> {
  const { reader, did, topicCheck } = setUp(before, after, log);
  const place = { topic: "t", partition: 0 };
  reader.outOfRange(place);
  reader.outOfRange(place); // another fetch, which was under way
  await expect.poll(() => did.at(-1)).toBe("let go");
  topicCheck.stop();
  return did.slice();
}

test("a partition of which a quota lets nothing come is waited for, until its broker wants no pause", async () => {
  const { reader, did, topicCheck } = setUp("old", "old");
  const asked = new Map([["t", new Map([[0, { offset: 214n, at: 0, maxBytes: 1, maxBytesAt: 0 }]])]]);
  reader.paced(asked, 0);
  reader.paced(asked, 9_000);
  reader.paced(new Map([["other", asked.get("t") ?? new Map()]]), 0);
  expect(did).toHaveLength(1);
  reader.paced(asked, 0);
  reader.paced(asked, 0);
  expect(did).toEqual([
    expect.stringMatching(/the quota of the client is used up: its broker sends nothing of t\[0\], and is asked again after 9000 ms/),
    "found",
  ]);
  topicCheck.stop();
});

test("a log that ends before the position is that of the topic only if the brokers know it before and after", async () => {
  expect(await outcomeOf("old", "old")).toEqual(["failed: [offset-out-of-range]"]);
  expect(await outcomeOf("old", "new")).toEqual(["recreated"]);
  expect(await outcomeOf(null, "new")).toEqual(["recreated"]);
  expect(await outcomeOf(null, null)).toEqual([]);
});

test("a lost range is passed only when all that was fetched before it is handed over", async () => {
  expect(await outcomeOf("old", "old", { low: 300n, high: 400n })).toEqual(["found", "goes on at 300", "sought 300"]);
  expect(await outcomeOf("old", "old", { low: 300n, high: 400n, isBusy: true })).toEqual(["held", "sought 214"]);
});

test("if the log has the position, as after the answer of a replica that is behind, kafkajs is moved back to it", async () => {
  expect(await outcomeOf("old", "old", { high: 300n })).toEqual(["sought 214"]);
  expect(await outcomeOf("old", "new", { high: 300n }), "the log of another topic").toEqual(["recreated"]);
  expect(await outcomeOf("old", null, { high: 300n }), "the log of a topic that nobody knows now").toEqual([]);
});

test("while it is found out why an offset is out of range, nothing is fetched; then kafkajs asks for it again, or goes on after what is lost", async () => {
  const stopped = ["stopped", "sought 214"];
  const waits = "waits: and the brokers do not say what the log has";
  expect(await outcomeOutOfRange("old", "old", { high: 300n })).toEqual([
    ...stopped,
    "sought 214",
    "waits: and the log has it: a replica may be behind its leader",
    "let go",
  ]);
  expect(await outcomeOutOfRange("old", "old", { low: 300n, high: 400n })).toEqual([
    ...stopped,
    "found",
    "goes on at 300",
    "sought 300",
    "let go",
  ]);
  const busy = await outcomeOutOfRange("old", "old", { low: 300n, high: 400n, isBusy: true });
  expect(busy).toEqual([...stopped, "held", "sought 214", "let go"]);
  expect(await outcomeOutOfRange("old", "old")).toEqual([...stopped, "failed: [offset-out-of-range]", "let go"]);
  expect(await outcomeOutOfRange("old", "new")).toEqual([...stopped, "recreated", "let go"]);
  expect(await outcomeOutOfRange(null, null)).toEqual([...stopped, waits, "let go"]);
});

test("an offset that is not out of range any more is waited for no longer, also if no batch comes", async () => {
  const { reader, did, topicCheck } = setUp("old", "old", { high: 214n });
  const place = { topic: "t", partition: 0 };
  reader.outOfRange(place);
  await expect.poll(() => did.at(-1)).toBe("let go");
  reader.outOfRange(place);
  await expect.poll(() => did.at(-1)).toBe("found");
  expect(did.filter((one) => ["let go", "found"].includes(one))).toEqual(["let go", "let go", "found"]);
  topicCheck.stop();
});

test("a range that was found for an offset is not passed if the position has moved meanwhile", async () => {
  const moved = { low: 300n, high: 400n, movesTo: 350n };
  expect(await outcomeOutOfRange("old", "old", moved)).toEqual(["stopped", "sought 214", "let go"]);
  expect(await outcomeOf("old", "old", moved)).toEqual([]);
});
