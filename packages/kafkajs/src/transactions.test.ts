import type { OutgoingRecord } from "@cdckit/consumer";
import { type Position, placeOf } from "@cdckit/driver";
import { Partitioners, type RecordMetadata } from "kafkajs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HeldPartitions } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import type { OwnProducer } from "./own-producer.ts";
import { Partitions } from "./partitions.ts";
import { Transactions } from "./transactions.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const record: OutgoingRecord = { topic: "out", partition: 0, key: null, value: Buffer.from("v"), headers: [] };

/** A member with one partition. `connections`: of its producers, one after another. */
function setUp(connections: (() => Promise<void>)[]) {
  const calls: string[] = [];
  const committed = new Map<string, Position>();
  let made = 0;
  const makeProducer = (): OwnProducer => {
    const name = String(++made);
    const note = (what: string) => async (): Promise<void> => void calls.push(`${name} ${what}`);
    const transaction = {
      sendBatch: async (): Promise<RecordMetadata[]> => {
        calls.push(`${name} writes`);
        return [{ topicName: "out", partition: 0, errorCode: 0 }];
      },
      sendOffsets: async () => void committed.set(placeOf("t", 0), { offset: 1n, topicId: null }),
      commit: note("commits"),
      abort: note("aborts"),
    };
    const producer = {
      connect: connections.shift(),
      transaction: async () => {
        calls.push(`${name} begins`);
        return transaction;
      },
      disconnect: note("disconnects"),
    } as unknown as OwnProducer["producer"]; // as much as is called
    return { producer, partitions: new Partitions(Partitioners.DefaultPartitioner), destroySockets: () => {} };
  };
  const assignments = new HeldPartitions();
  assignments.renew({ t: [0] });
  const offsets = assignments.all().map((held) => {
    assignments.started(held, { assignment: held.assignment, offset: 0n, committed: null, skipped: null });
    return { assignment: held.assignment, offset: 1n };
  });
  const brokerOffsets = { committed: async () => committed } as unknown as BrokerOffsets; // as much as is asked
  const ended = new AbortController().signal;
  return {
    calls,
    offsets,
    assignments,
    committed,
    transactions: new Transactions({
      groupId: "g",
      makeProducer,
      brokerOffsets,
      assignments,
      fences: { fenced: () => void calls.push("fenced"), written: () => {} },
      ended,
    }),
  };
}

test("a producer that connects after its transaction was given up begins none: it would fence off the one that has the same id since", async () => {
  let connects = (): void => {};
  const { calls, offsets, transactions } = setUp([() => new Promise((resolve) => (connects = resolve)), () => Promise.resolve()]);
  const first = transactions.transact([record], offsets).catch((error: unknown) => (error as Error).message);
  await vi.advanceTimersByTimeAsync(62_000);
  expect(await first).toMatch("was not answered within 60000 ms");
  connects();
  await vi.advanceTimersByTimeAsync(0);
  await transactions.transact([record], offsets);
  expect(calls).toEqual(["1 disconnects", "2 begins", "2 writes", "2 commits"]);
});

test("a producer that connects when its partition is lost begins no transaction: it would fence off the new owner, for ever", async () => {
  let connects = (): void => {};
  const { calls, offsets, assignments, transactions } = setUp([() => new Promise((resolve) => (connects = resolve))]);
  const transacted = transactions.transact([record], offsets).catch((error: unknown) => (error as { readonly code?: unknown }).code);
  await vi.advanceTimersByTimeAsync(0);
  assignments.clear();
  connects();
  expect(await transacted).toBe("fenced");
  expect(calls).toEqual(["1 disconnects"]);
});

test("a partition that is fenced although it is held is for the group to give: until it is assigned again, no producer is made for it", async () => {
  const overtaken = setUp([() => Promise.resolve()]);
  overtaken.committed.set(placeOf("t", 0), { offset: 9n, topicId: null });
  const codeOf = (error: unknown) => (error as { readonly code?: unknown }).code;
  for (const _ of [1, 2]) {
    expect(await overtaken.transactions.transact([record], overtaken.offsets).catch(codeOf)).toBe("fenced");
  }
  expect(overtaken.calls).toEqual(["1 begins", "1 aborts", "1 disconnects", "fenced", "fenced"]);
});
