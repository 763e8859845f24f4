import type { OffsetCommit, OutgoingRecord, PartitionAssignment } from "@cdckit/consumer";
import { type DriverHarness, join, type Joined, lines, text, topicOf, type Trial } from "./driver-trial.ts";

/** What the consumer relies on when it writes. */
export const writeTrials: Readonly<Record<string, Trial>> = {
  "what is sent is in the log when the promise resolves, as it was given": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const { session } = await join(harness, { topics: [topic] });
    await session.send?.([
      outgoing(topic, {
        key: Buffer.from("k"),
        value: Buffer.from([0, 255]),
        timestamp: 1_700_000_000_123n,
        headers: [
          ["a", Buffer.from("1")],
          ["a", Buffer.from("2")],
        ],
      }),
      outgoing(topic, { value: null }),
      outgoing(topic, { key: new Uint8Array(0), value: new Uint8Array(0) }),
    ]);
    const reader = await join(harness, { topics: [topic] });
    await reader.sink.until(({ records }) => records.length >= 3);
    const [first, second, third] = reader.sink.records;
    expect([text(first?.key ?? null), [...(first?.value ?? [])], first?.timestamp]).toEqual(["k", [0, 255], 1_700_000_000_123n]);
    // The order among names that repeat is what some clients cannot keep.
    expect(first?.headers.filter(([name]) => name === "a").map(([, value]) => text(value))).toEqual(["1", "2"]);
    expect([second?.key, second?.value, text(third?.key ?? null), text(third?.value ?? null)]).toEqual([null, null, "", ""]);
    await Promise.all([session.close(5_000), reader.session.close(5_000)]);
  },

  "what is sent one after the other stands in that order": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const { session } = await join(harness, { topics: [topic] });
    const numbers = Array.from({ length: 20 }, (_, i) => String(i));
    await Promise.all(numbers.map(async (value) => session.send?.([outgoing(topic, { value: Buffer.from(value) })])));
    const reader = await join(harness, { topics: [topic] });
    await reader.sink.until(({ records }) => records.length >= numbers.length);
    expect(reader.sink.records.map(({ value }) => text(value))).toEqual(numbers);
    await Promise.all([session.close(5_000), reader.session.close(5_000)]);
  },

  "records of one key are sent to one partition": async (harness, { expect }) => {
    const topic = await topicOf(harness, 4);
    const { session } = await join(harness, { topics: [topic] });
    await session.send?.(Array.from({ length: 8 }, () => outgoing(topic, { key: Buffer.from("the same"), value: Buffer.from("v") })));
    const reader = await join(harness, { topics: [topic] });
    await reader.sink.until(({ records }) => records.length >= 8);
    expect(new Set(reader.sink.records.map(({ partition }) => partition)).size).toEqual(1);
    await Promise.all([session.close(5_000), reader.session.close(5_000)]);
  },

  "records of a partition that are together larger than a batch may be are written in order, also in a transaction": async (
    harness,
    { expect },
  ) => {
    const { reads, writes, groupId, joined } = await transfer(harness);
    const { session, sink } = joined;
    const valueOf = (i: number): Buffer => Buffer.from(String(i).padEnd(16 * 1024));
    const many = (from: number) => Array.from({ length: 160 }, (_, i) => outgoing(writes, { value: valueOf(from + i) }));
    await session.send?.(many(0));
    await session.transact?.(
      many(160),
      sink.held.map((assignment) => ({ assignment, offset: 4n })),
    );
    expect(await harness.committed(groupId, reads, 0)).toEqual(4n);
    const reader = await join(harness, { topics: [writes] });
    await reader.sink.until(({ records }) => records.length >= 320);
    expect(reader.sink.records.map(({ value }) => Number(text(value)))).toEqual(Array.from({ length: 320 }, (_, i) => i));
    await Promise.all([session.close(5_000), reader.session.close(5_000)]);
  },

  "sending to a topic that does not exist is an error, and the next send works": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const missing = harness.uniqueName("missing");
    const { session } = await join(harness, { topics: [topic] });
    const error = await session.send?.([outgoing(missing, { value: null })]).then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error instanceof Error && error.message.includes(missing)).toEqual(true);
    await session.send?.([outgoing(topic, { value: Buffer.from("v") })]);
    await session.close(5_000);
  },

  "sending to a partition that does not exist is an error": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const { session } = await join(harness, { topics: [topic] });
    const error = await session.send?.([outgoing(topic, { partition: 7, value: null })]).then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error instanceof Error && error.message.includes(topic)).toEqual(true);
    await session.close(5_000);
  },

  "a transaction writes and commits": async (harness, { expect }) => {
    const { reads, writes, groupId, joined } = await transfer(harness);
    const assignment = joined.sink.held[0];
    await joined.session.transact?.(
      [outgoing(writes, { value: Buffer.from("a") })],
      assignment === undefined ? [] : [{ assignment, offset: 2n }],
    );
    await joined.session.transact?.(
      [outgoing(writes, { value: Buffer.from("b") })],
      assignment === undefined ? [] : [{ assignment, offset: 4n }],
    );
    expect(await harness.committed(groupId, reads, 0)).toEqual(4n);
    const reader = await join(harness, { topics: [writes] });
    await reader.sink.until(({ records }) => records.length >= 2);
    expect(reader.sink.records.map(({ value }) => text(value))).toEqual(["a", "b"]);
    await Promise.all([joined.session.close(5_000), reader.session.close(5_000)]);
  },

  "a record that is too large is an error of the driver's, and a transaction of it and a small one writes and commits nothing": async (
    harness,
    { expect },
  ) => {
    const unhandled: unknown[] = [];
    const remember = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", remember);
    try {
      const { reads, writes, groupId, joined } = await transfer(harness);
      const { session, sink } = joined;
      const offsets = sink.held.map((assignment) => ({ assignment, offset: 4n }));
      const tooLarge = [outgoing(writes, { value: Buffer.from("small") }), outgoing(writes, { value: Buffer.alloc(2 * 1024 * 1024, "x") })];
      expect(await codeOf(session.transact?.(tooLarge, offsets))).toEqual("transaction-failed");
      expect(await harness.committed(groupId, reads, 0)).toEqual(null);
      await session.transact?.([outgoing(writes, { value: Buffer.from("later") })], offsets);
      expect(await harness.committed(groupId, reads, 0)).toEqual(4n);
      const reader = await join(harness, { topics: [writes] });
      await reader.sink.until(({ records }) => records.length >= 1);
      expect(reader.sink.records.map(({ value }) => text(value))).toEqual(["later"]);
      expect(await codeOf(session.send?.(tooLarge))).toEqual("send-failed");
      await session.send?.([outgoing(writes, { value: Buffer.from("last") })]);
      await reader.sink.until(({ records }) => text(records.at(-1)?.value ?? null) === "last");
      await Promise.all([session.close(5_000), reader.session.close(5_000)]);
    } finally {
      process.off("unhandledRejection", remember);
    }
    expect(unhandled).toEqual([]);
  },

  "a transaction of an assignment that is over writes nothing and commits nothing": async (harness, { expect }) => {
    const { reads, writes, groupId, joined } = await transfer(harness);
    const stale = { topic: reads, partition: 0, epoch: (joined.sink.held[0]?.epoch ?? 0) - 1 };
    const refused = await joined.session
      .transact?.([outgoing(writes, { value: Buffer.from("zombie") })], [{ assignment: stale, offset: 4n }])
      .then(
        () => false,
        () => true,
      );
    expect(refused).toEqual(true);
    expect(await harness.committed(groupId, reads, 0)).toEqual(null);
    await harness.produce(writes, [{ partition: 0, value: "later" }]);
    const reader = await join(harness, { topics: [writes] });
    await reader.sink.until(({ records }) => records.length >= 1);
    expect(reader.sink.records.map(({ value }) => text(value))).toEqual(["later"]);
    await Promise.all([joined.session.close(5_000), reader.session.close(5_000)]);
  },

  "a commit below one that the group has is left out, without an error": async (harness, { expect }) => {
    const { reads, groupId, joined } = await transfer(harness);
    const [assignment] = joined.sink.held;
    const commits = (offset: bigint): OffsetCommit[] => (assignment === undefined ? [] : [{ assignment, offset }]);
    await joined.session.commit(commits(3n));
    await joined.session.commit(commits(2n));
    expect(await harness.committed(groupId, reads, 0)).toEqual(3n);
    await joined.session.transact?.([], commits(4n));
    await joined.session.commit(commits(3n));
    expect(await harness.committed(groupId, reads, 0)).toEqual(4n);
    await joined.session.close(5_000);
  },

  "a commit that is asked for while a transaction runs does not move the group back": async (harness, { expect }) => {
    const { reads, writes, groupId, joined } = await transfer(harness);
    const [assignment] = joined.sink.held;
    const commits = (offset: bigint): OffsetCommit[] => (assignment === undefined ? [] : [{ assignment, offset }]);
    for (const [earlier, later] of [
      [1n, 2n],
      [3n, 4n],
    ] as const) {
      // Neither is awaited before the other is asked for: a plain commit takes one request, a transaction several.
      await Promise.all([
        joined.session.transact?.([outgoing(writes, { value: Buffer.from("a") })], commits(later)),
        joined.session.commit(commits(earlier)),
      ]);
      expect(await harness.committed(groupId, reads, 0)).toEqual(later);
    }
    await joined.session.close(5_000);
  },

  "a member that starts at the end of the log writes and commits in transactions from there": async (harness, { expect }) => {
    const [reads, writes] = [await topicOf(harness, 1), await topicOf(harness, 1)];
    const groupId = harness.uniqueName("group");
    await harness.produce(reads, lines(0, 3));
    const { session, sink } = await join(harness, { topics: [reads], groupId, from: "latest" });
    await sink.until(({ starts }) => starts.length === 1);
    await harness.produce(reads, lines(0, 1));
    await sink.until(({ records }) => records.length >= 1);
    await session.transact?.(
      [outgoing(writes, { value: Buffer.from("a") })],
      sink.held.map((assignment) => ({ assignment, offset: 4n })),
    );
    expect(await harness.committed(groupId, reads, 0)).toEqual(4n);
    await session.close(5_000);
  },

  "a transaction after a seek back commits below the last one, although the position of the seek was not committed": async (
    harness,
    { expect },
  ) => {
    const { reads, writes, groupId, joined } = await transfer(harness);
    const { session, sink } = joined;
    const transact = async (assignment: PartitionAssignment | null, offset: bigint): Promise<void> =>
      session.transact?.([outgoing(writes, { value: Buffer.from("v") })], assignment === null ? [] : [{ assignment, offset }]);
    const [first = null] = sink.held;
    await transact(first, 4n);
    await transact(first === null ? null : (session.seek?.(first, 1n) ?? null), 2n);
    expect(await harness.committed(groupId, reads, 0)).toEqual(2n);
    await session.close(5_000);
  },

  "who takes a partition over goes on where the last transaction of it ended": async (harness, { expect }) => {
    const { reads, writes, groupId, joined } = await transfer(harness);
    const [assignment] = joined.sink.held;
    await joined.session.transact?.(
      [outgoing(writes, { value: Buffer.from("a") })],
      assignment === undefined ? [] : [{ assignment, offset: 3n }],
    );
    await joined.session.close(5_000);
    const next = await join(harness, { topics: [reads], groupId });
    await next.sink.until(({ records }) => records.length >= 1);
    expect(next.sink.records[0]?.offset).toEqual(3n);
    const [taken] = next.sink.held;
    await next.session.transact?.(
      [outgoing(writes, { value: Buffer.from("b") })],
      taken === undefined ? [] : [{ assignment: taken, offset: 4n }],
    );
    expect(await harness.committed(groupId, reads, 0)).toEqual(4n);
    await next.session.close(5_000);
  },
};

interface Transfer {
  readonly reads: string;
  readonly writes: string;
  readonly groupId: string;
  readonly joined: Joined;
}

/** A member that has read four records of one topic and is to write to another. */
async function transfer(harness: DriverHarness): Promise<Transfer> {
  const [reads, writes] = [await topicOf(harness, 1), await topicOf(harness, 1)];
  const groupId = harness.uniqueName("group");
  await harness.produce(reads, lines(0, 4));
  const joined = await join(harness, { topics: [reads], groupId });
  await joined.sink.until(({ records }) => records.length >= 4);
  return { reads, writes, groupId, joined };
}

/** The code of the error that it rejects with; null if it resolves. */
async function codeOf(written: Promise<void> | undefined): Promise<unknown> {
  return written?.then(
    () => null,
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}

/** A record to write. */
export function outgoing(topic: string, record: Partial<OutgoingRecord>): OutgoingRecord {
  return { topic, key: null, value: null, headers: [], ...record };
}
