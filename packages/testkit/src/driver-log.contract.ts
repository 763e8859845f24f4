import type { LostRange, OffsetCommit, PartitionAssignment, Subscription } from "@cdckit/consumer";
import { type DriverHarness, join, type Joined, latch, lines, pause, text, topicOf, type Trial } from "./driver-trial.ts";
import type { ProbeSink } from "./probe-sink.ts";

/** What the consumer relies on of the log: where it starts, where it ends, what is missing in it. */
export const logTrials: Readonly<Record<string, Trial>> = {
  "ranges tell where the log starts and ends": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    await harness.produce(topic, lines(0, 6));
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ held, records }) => held.length === 2 && records.length >= 6);
    await harness.deleteBefore(topic, 0, 4n);
    const ranges = (await session.ranges?.(sink.held)) ?? [];
    const reported = ranges.map(({ assignment, start, end }) => [sink.held.includes(assignment), assignment.partition, start, end]);
    expect(reported.sort((a, b) => Number(a[1]) - Number(b[1]))).toEqual([
      [true, 0, 4n, 6n],
      [true, 1, 0n, 0n],
    ]);
    await session.close(5_000);
  },

  "startAt decides where a partition starts; without its word the commit does": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, [...lines(0, 8), ...lines(1, 8)]);
    await commitAt(harness, { topic, groupId }, 2n);
    const asked: number[] = [];
    const startAt = async (assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> => {
      asked.push(...assignments.map(({ partition }) => partition));
      return assignments.filter(({ partition }) => partition === 0).map((assignment) => ({ assignment, offset: 5n }));
    };
    const { sink, session } = await join(harness, { topics: [topic], groupId, startAt });
    await sink.until(({ records }) => records.length >= 9);
    expect([offsetsOf(sink, 0)[0], offsetsOf(sink, 1)[0]]).toEqual([5n, 2n]);
    expect(asked.sort((a, b) => a - b)).toEqual([0, 1]);
    await session.close(5_000);
  },

  "nothing of a partition is handed over before startAt has answered": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 8));
    const answer = latch();
    const startAt = async (assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> => {
      await answer.promise;
      return assignments.map((assignment) => ({ assignment, offset: 0n }));
    };
    const { sink, session } = await join(harness, { topics: [topic], from: "latest", startAt });
    await sink.until(({ held }) => held.length === 1);
    await pause(50);
    expect(sink.batches.length).toEqual(0);
    answer.open();
    await sink.until(({ records }) => records.length >= 8);
    expect(sink.records[0]?.offset).toEqual(0n);
    await session.close(5_000);
  },

  "a startAt that the log does not have is an error with what is missing": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 8));
    await harness.deleteBefore(topic, 0, 4n);
    for (const offset of [2n, 20n]) {
      const startAt = async (assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> =>
        assignments.map((assignment) => ({ assignment, offset }));
      const failure = await failureOf(harness, { topics: [topic], startAt });
      expect(failure).toEqual({ topic, partition: 0, firstMissing: offset, firstAvailable: 4n, end: 8n });
    }
  },

  "a committed offset that retention has overtaken is an error with what is missing, and stays": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 8));
    await commitAt(harness, { topic, groupId }, 2n);
    await harness.deleteBefore(topic, 0, 5n);
    const failure = await failureOf(harness, { topics: [topic], groupId });
    expect(failure).toEqual({ topic, partition: 0, firstMissing: 2n, firstAvailable: 5n, end: 8n });
    expect(await harness.committed(groupId, topic, 0)).toEqual(2n);
  },

  "what retention takes before it was read is an error with what is missing, and the group's offset stays": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 4));
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ records }) => records.length >= 4);
    // What was handed over since is not handled.
    await session.commit(sink.held.map((assignment) => ({ assignment, offset: 2n })));
    session.pause(sink.held);
    // A fetch may be under way.
    await pause(300);
    await harness.produce(topic, lines(0, 4));
    await harness.deleteBefore(topic, 0, 6n);
    session.resume(sink.held);
    await sink.until(({ failures }) => failures.length > 0);
    expect(lostOf(sink.failures[0])).toEqual({ topic, partition: 0, firstMissing: 4n, firstAvailable: 6n, end: 8n });
    expect(sink.records.length).toEqual(4);
    await session.close(5_000);
    expect(await harness.committed(groupId, topic, 0)).toEqual(2n);
  },

  "if several partitions lose records at once, the next start finds what the failed one has not named": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, [...lines(0, 4), ...lines(1, 4)]);
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ records }) => records.length >= 8);
    await session.commit(sink.held.map((assignment) => ({ assignment, offset: 2n })));
    session.pause(sink.held);
    // A fetch may be under way.
    await pause(300);
    await harness.produce(topic, [...lines(0, 4), ...lines(1, 4)]);
    await Promise.all([harness.deleteBefore(topic, 0, 6n), harness.deleteBefore(topic, 1, 6n)]);
    session.resume(sink.held);
    await sink.until(({ failures }) => failures.length > 0);
    // A client that fetches on may find the other range, too, before the session is closed.
    await pause(1_000);
    await session.close(5_000);
    const named = lostOf(sink.failures[0])?.partition ?? 0;
    const other = 1 - named;
    expect(await harness.committed(groupId, topic, named)).toEqual(2n);
    // Somebody decides for the partition that was named. A start elsewhere is no decision for the other one.
    const startAt = async (assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> =>
      assignments.map((assignment) => ({ assignment, offset: 8n }));
    const decided = await join(harness, { topics: [topic], groupId, startAt });
    await decided.sink.until(({ starts }) => starts.length === 2);
    const ofNamed = decided.sink.held.filter(({ partition }) => partition === named);
    await decided.session.commit(ofNamed.map((assignment) => ({ assignment, offset: 8n })));
    await decided.session.close(5_000);
    const lost = await failureOf(harness, { topics: [topic], groupId });
    expect([lost?.partition, lost?.firstAvailable, lost?.end]).toEqual([other, 6n, 8n]);
  },

  "if one partition loses records and the session fails, the start of another one without a commit is known to the next start": async (
    harness,
    { expect },
  ) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, [...lines(0, 4), ...lines(1, 4)]);
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ records }) => records.length >= 8);
    const handled = sink.held.filter(({ partition }) => partition === 0);
    await session.commit(handled.map((assignment) => ({ assignment, offset: 4n })));
    session.pause(handled);
    // A fetch may be under way.
    await pause(300);
    await harness.produce(topic, lines(0, 4));
    await harness.deleteBefore(topic, 0, 6n);
    session.resume(handled);
    await sink.until(({ failures }) => failures.length > 0);
    await session.close(5_000);
    expect([await harness.committed(groupId, topic, 0), await harness.committed(groupId, topic, 1)]).toEqual([4n, 0n]);
  },

  "the same if what comes after it was aborted, and is never handed over": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 4));
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ records }) => records.length >= 4);
    session.pause(sink.held);
    // A fetch may be under way.
    await pause(300);
    await harness.produce(topic, lines(0, 2));
    await harness.produceInTransaction(topic, lines(0, 2), "abort");
    await harness.deleteBefore(topic, 0, 6n);
    session.resume(sink.held);
    await sink.until(({ failures, batches }) => failures.length > 0 || (batches.at(-1)?.nextOffset ?? 0n) > 6n);
    expect(lostOf(sink.failures[0])).toEqual({ topic, partition: 0, firstMissing: 4n, firstAvailable: 6n, end: 9n });
    await session.close(5_000);
  },

  "if the subscription says so, it goes on after what retention took, and tells what was skipped": async (harness, { expect }) => {
    for (const lostRange of ["earliest", "latest"] as const) {
      const topic = await topicOf(harness, 1);
      const groupId = harness.uniqueName("group");
      await harness.produce(topic, lines(0, 8));
      await commitAt(harness, { topic, groupId }, 2n);
      await harness.deleteBefore(topic, 0, 5n);
      const lost = { topic, partition: 0, firstMissing: 2n, firstAvailable: 5n, end: 8n };
      const { sink, session } = await join(harness, { topics: [topic], groupId, lostRange });
      await sink.until(({ losses }) => losses.length > 0);
      const position = lostRange === "earliest" ? 5n : 8n;
      expect(sink.losses).toEqual([{ assignment: sink.held[0], lost, resumeOffset: position }]);
      await harness.produce(topic, lines(0, 1));
      await sink.until(({ records }) => records.length > 0);
      expect([sink.records[0]?.offset, sink.failures]).toEqual([position, []]);
      await session.close(5_000);
    }
  },

  "the same while it is read: the position moves on, and nothing else": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 4));
    const { sink, session } = await join(harness, { topics: [topic], lostRange: "earliest" });
    await sink.until(({ records }) => records.length >= 4);
    session.pause(sink.held);
    // A fetch may be under way.
    await pause(300);
    await harness.produce(topic, lines(0, 4));
    await harness.deleteBefore(topic, 0, 6n);
    session.resume(sink.held);
    await sink.until(({ records }) => records.length >= 6);
    expect(offsetsOf(sink, 0)).toEqual([0n, 1n, 2n, 3n, 6n, 7n]);
    expect(sink.losses.map(({ lost, resumeOffset }) => [lost.firstMissing, lost.firstAvailable, resumeOffset])).toEqual([[4n, 6n, 6n]]);
    expect([sink.failures, sink.revocations]).toEqual([[], []]);
    await session.close(5_000);
  },

  "what was fetched before the lost range is handed over first, however long it takes": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    for (let i = 0; i < 3; i++) {
      await harness.produce(topic, lines(0, 2)); // a record batch each, and all in one fetch
    }
    let handle: () => void = () => {};
    const handled = new Promise<void>((resolve) => {
      handle = resolve;
    });
    const reported: { readonly handedOver: number; readonly lost: LostRange }[] = [];
    const { sink, session } = await join(harness, { topics: [topic], lostRange: "earliest" }, (made) => {
      made.onBatch = () => handled;
      made.skipped = (_assignment, lost) => void reported.push({ handedOver: made.records.length, lost });
    });
    await sink.until(({ records }) => records.length > 0);
    session.pause(sink.held);
    // A fetch may be under way, and a client waits some time for a batch before it goes on.
    await pause(500);
    await harness.produce(topic, lines(0, 4));
    await harness.deleteBefore(topic, 0, 8n);
    session.resume(sink.held);
    await pause(3_000);
    handle();
    await sink.until(({ records }) => records.at(-1)?.offset === 9n);
    // How much is fetched at once is the driver's. The rest was deleted before it was fetched.
    const fetched = offsetsOf(sink, 0).length - 2;
    expect(offsetsOf(sink, 0)).toEqual([...Array.from({ length: fetched }, (_, i) => BigInt(i)), 8n, 9n]);
    expect(reported.map(({ handedOver, lost }) => [handedOver, lost.firstMissing, lost.firstAvailable])).toEqual([
      [fetched, BigInt(fetched), 8n],
    ]);
    expect([sink.failures, sink.revocations]).toEqual([[], []]);
    await session.close(5_000);
  },

  "the same if startAt said where; a log that ends before is an error all the same": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 8));
    await harness.deleteBefore(topic, 0, 4n);
    const startAt =
      (offset: bigint) =>
      async (assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> =>
        assignments.map((assignment) => ({ assignment, offset }));
    const { sink, session } = await join(harness, { topics: [topic], startAt: startAt(2n), lostRange: "earliest" });
    await sink.until(({ records }) => records.length >= 4);
    expect([offsetsOf(sink, 0)[0], sink.losses.map(({ resumeOffset }) => resumeOffset)]).toEqual([4n, [4n]]);
    await session.close(5_000);
    const failure = await failureOf(harness, { topics: [topic], startAt: startAt(20n), lostRange: "earliest" });
    expect(failure).toEqual({ topic, partition: 0, firstMissing: 20n, firstAvailable: 4n, end: 8n });
  },

  "an assignment has the id of its topic, and one of a recreated topic another": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const ids: (string | null | undefined)[] = [];
    for (const time of ["first", "again", "recreated"]) {
      if (time === "recreated") {
        await recreate(harness, topic);
      }
      const startAt = async (assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> => {
        ids.push(...assignments.map(({ topicId }) => topicId));
        return [];
      };
      await harness.produce(topic, lines(0, 1));
      const { sink, session } = await join(harness, { topics: [topic], startAt });
      await sink.until(({ records }) => records.length > 0);
      expect(sink.batches[0]?.assignment.topicId).toEqual(ids.at(-1));
      await session.close(5_000);
    }
    expect([typeof ids[0], ids[1] === ids[0], ids[2] === ids[0], typeof ids[2]]).toEqual(["string", true, false, "string"]);
  },

  "a topic that is recreated while it is read is an error that names it": async (harness, { expect }) => {
    const { topic, sink, session, ids } = await reader(harness, { lostRange: "halt" });
    await recreateFull(harness, topic);
    await sink.until(({ failures, records }) => failures.length > 0 || records.some(isNew));
    expect([codeOf(sink.failures[0]), sink.records.filter(isNew).length]).toEqual(["topic-recreated", 0]);
    // It may be noticed before there are records again.
    const lost = lostOf(sink.failures[0]);
    expect([lost?.firstMissing, lost?.firstAvailable, lost?.recreated?.from]).toEqual([4n, 0n, ids[0]]);
    await session.close(5_000);
  },

  "if the subscription says so, a recreated topic is read from its start by a new assignment, and that is reported": async (
    harness,
    { expect },
  ) => {
    const { topic, groupId, sink, session, ids } = await reader(harness, { lostRange: "earliest" });
    await recreateFull(harness, topic);
    await sink.until(({ failures, records }) => failures.length > 0 || records.filter(isNew).length >= 8);
    expect([sink.failures, sink.records.filter(isNew).map(({ offset }) => offset)]).toEqual([[], [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n]]);
    expect(sink.losses.map(({ lost, resumeOffset }) => [lost.recreated?.from, lost.recreated?.to === ids[0], resumeOffset])).toEqual([
      [ids[0], false, 0n],
    ]);
    const [assignment] = sink.held;
    expect([assignment?.topicId, sink.batches.at(-1)?.assignment === assignment]).toEqual([sink.losses[0]?.lost.recreated?.to, true]);
    await session.commit(sink.held.map((held) => ({ assignment: held, offset: 6n })));
    await session.close(5_000);
    const next = await join(harness, { topics: [topic], groupId });
    await next.sink.until(({ records }) => records.length > 0);
    expect([next.sink.records[0]?.offset, next.sink.failures]).toEqual([6n, []]);
    await next.session.close(5_000);
  },

  "a commit that comes to a topic of the same name is no start in it": async (harness, { expect }) => {
    for (const lostRange of ["halt", "earliest"] as const) {
      const { topic, groupId, sink, session } = await reader(harness, { lostRange });
      session.pause(sink.held);
      // A fetch may be under way.
      await pause(300);
      // Whether the broker takes it, or the member has noticed before.
      const late = sink.held.map((assignment) => ({ assignment, offset: 4n }));
      await recreateFull(harness, topic);
      await session.commit(late).catch(() => {});
      await session.close(5_000);
      if (lostRange === "halt") {
        const isTaken = (await harness.committed(groupId, topic, 0)) !== null;
        const failure = isTaken ? await failureOf(harness, { topics: [topic], groupId }) : null;
        expect(failure?.recreated === undefined).toEqual(!isTaken);
      } else {
        const next = await join(harness, { topics: [topic], groupId, lostRange });
        await next.sink.until(({ records, failures }) => records.length >= 8 || failures.length > 0);
        expect([next.sink.records[0]?.offset, next.sink.failures]).toEqual([0n, []]);
        await next.session.close(5_000);
      }
    }
  },

  "a startAt of another topic id is an error with what is missing, or goes on as the subscription says": async (harness, { expect }) => {
    const { topic, session, ids } = await reader(harness, {});
    await session.close(5_000);
    await recreateFull(harness, topic);
    const startAt = async (assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> =>
      assignments.map((assignment) => ({ assignment, offset: 4n, topicId: ids[0] ?? null }));
    const { recreated, ...place } = (await failureOf(harness, { topics: [topic], startAt })) ?? {};
    expect([place, recreated?.from]).toEqual([{ topic, partition: 0, firstMissing: 4n, firstAvailable: 0n, end: 8n }, ids[0]]);
    for (const [lostRange, position] of [
      ["earliest", 0n],
      ["latest", 8n],
    ] as const) {
      const { sink, session: other } = await join(harness, { topics: [topic], startAt, lostRange });
      await sink.until(({ losses }) => losses.length > 0);
      expect([sink.losses.map(({ resumeOffset }) => resumeOffset), sink.failures]).toEqual([[position], []]);
      await other.close(5_000);
    }
  },

  "aborted records are not handed over, and what is not a record moves the partition on": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produceInTransaction(topic, lines(0, 2), "commit");
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ batches }) => batches.at(-1)?.nextOffset === 3n);
    await harness.produceInTransaction(topic, lines(0, 2), "abort");
    await sink.until(({ batches }) => batches.at(-1)?.nextOffset === 6n);
    expect(sink.records.map(({ offset }) => offset)).toEqual([0n, 1n]);
    await harness.produce(topic, lines(0, 1));
    await sink.until(({ records }) => records.length >= 3);
    expect(sink.records.at(-1)?.offset).toEqual(6n);
    await session.close(5_000);
  },

  "of transactions that lie within each other, the records of those that are aborted are not handed over": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const outer = await harness.openTransaction(topic, lines(0, 2));
    const inner = await harness.openTransaction(topic, [{ partition: 0, key: "\0\0\0\0", value: "its key is that of an abort marker" }]);
    const committed = await harness.openTransaction(topic, [{ partition: 0, key: "\0\0\0\0", value: "4" }]);
    const later = await harness.openTransaction(topic, lines(0, 2));
    await inner("abort");
    await committed("commit");
    await outer("abort");
    await later("abort");
    await harness.produce(topic, lines(0, 1));
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ records }) => records.at(-1)?.offset === 10n);
    expect(sink.records.map(({ offset }) => offset)).toEqual([3n, 10n]);
    await session.close(5_000);
  },

  "the end of the log is before an open transaction, whose records come when it is committed": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 3));
    const end = await harness.openTransaction(topic, lines(0, 2));
    const { sink, session } = await join(harness, { topics: [topic], from: "latest" });
    await sink.until(({ starts }) => starts.length === 1);
    const [range] = (await session.ranges?.(sink.held)) ?? [];
    expect([sink.starts[0]?.offset, range?.start, range?.end]).toEqual([3n, 0n, 3n]);
    await end("commit");
    await harness.produce(topic, lines(0, 1));
    await sink.until(({ records }) => records.at(-1)?.offset === 6n);
    expect(sink.records.map(({ offset }) => offset)).toEqual([3n, 4n, 6n]);
    await session.close(5_000);
  },

  "a position within an open transaction, as clients commit it that read uncommitted records, is one of the log": async (
    harness,
    { expect },
  ) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 3));
    const end = await harness.openTransaction(topic, lines(0, 3));
    await commitAt(harness, { topic, groupId }, 5n);
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ starts }) => starts.length === 1);
    expect([sink.starts[0]?.offset, sink.losses, sink.failures]).toEqual([5n, [], []]);
    await end("commit");
    await sink.until(({ records }) => records.length > 0);
    expect(sink.records.map(({ offset }) => offset)).toEqual([5n]);
    await session.close(5_000);
  },

  "what goes on at the end after a loss goes on before an open transaction": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 3));
    await commitAt(harness, { topic, groupId }, 1n);
    const end = await harness.openTransaction(topic, lines(0, 2));
    await harness.deleteBefore(topic, 0, 2n);
    const { sink, session } = await join(harness, { topics: [topic], groupId, lostRange: "latest" });
    await sink.until(({ losses }) => losses.length > 0);
    const lost = { topic, partition: 0, firstMissing: 1n, firstAvailable: 2n, end: 3n };
    expect(sink.losses.map((one) => [one.lost, one.resumeOffset])).toEqual([[lost, 3n]]);
    await end("commit");
    await harness.produce(topic, lines(0, 1));
    await sink.until(({ records }) => records.at(-1)?.offset === 6n);
    expect(sink.records.map(({ offset }) => offset)).toEqual([3n, 4n, 6n]);
    await session.close(5_000);
  },

  "partitions that are added are found": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 2));
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ records }) => records.length >= 2);
    await harness.addPartitions(topic, 2);
    await harness.produce(topic, lines(1, 2));
    await sink.until(({ records }) => records.some(({ partition }) => partition === 1));
    expect(offsetsOf(sink, 1)[0]).toEqual(0n);
    await session.close(5_000);
  },

  "what is new is read from its first record, also with latest: nothing in it is older than the session": async (harness, { expect }) => {
    const prefix = harness.uniqueName("later");
    const [old, later] = [`${prefix}.a`, `${prefix}.b`];
    await harness.createTopic(old, 1);
    await harness.produce(old, lines(0, 2));
    const { sink, session } = await join(harness, { topics: [new RegExp(`^${prefix}\\.`)], from: "latest" });
    await sink.until(({ starts }) => starts.length === 1);
    await harness.addPartitions(old, 2);
    await harness.produce(old, lines(1, 2));
    await harness.createTopic(later, 1);
    await harness.produce(later, lines(0, 2));
    // Nothing is committed: if the topic is found after the partition, what was read of the partition comes again.
    const seen = ({ records }: ProbeSink): readonly string[] =>
      [...new Set(records.map(({ topic, partition, offset }) => `${topic}[${partition}] ${offset}`))].sort();
    await sink.until((probe) => seen(probe).length >= 4);
    expect(seen(sink)).toEqual([`${old}[1] 0`, `${old}[1] 1`, `${later}[0] 0`, `${later}[0] 1`]);
    await session.close(5_000);
  },

  "a topic that a regular expression matches later is found": async (harness, { expect }) => {
    const prefix = harness.uniqueName("later");
    await harness.createTopic(`${prefix}.a`, 1);
    const { sink, session } = await join(harness, { topics: [new RegExp(`^${prefix}\\.`)] });
    await sink.until(({ held }) => held.length === 1);
    await harness.createTopic(`${prefix}.b`, 1);
    await harness.produce(`${prefix}.b`, lines(0, 2));
    await sink.until(({ records }) => records.length >= 2);
    expect(sink.records.map(({ topic, offset }) => [topic, offset])).toEqual([
      [`${prefix}.b`, 0n],
      [`${prefix}.b`, 1n],
    ]);
    await session.close(5_000);
  },

  "a topic that is deleted for good is given up, and waited for by its name; the others are read on": async (harness, { expect }) => {
    const [gone, kept] = [await topicOf(harness, 1), await topicOf(harness, 1)];
    await harness.produce(gone, lines(0, 2));
    const { sink, session } = await join(harness, { topics: [gone, kept], lostRange: "earliest" });
    await sink.until(({ held, records, starts }) => held.length === 2 && starts.length === 2 && records.length === 2);
    await harness.deleteTopic(gone);
    await sink.until(({ held }) => held.every(({ topic }) => topic !== gone));
    const isWaitedFor = ({ waits }: ProbeSink): boolean => [...waits].some(({ place }) => place === gone);
    await sink.until(({ waits }) => [...waits].some(({ place, causes }) => place === gone && causes.length > 0));
    await harness.produce(kept, lines(0, 1));
    await sink.until(({ records }) => records.some(({ topic }) => topic === kept));
    // A rebalance may follow, and whoever reads on begins at the commit.
    await session.commit(sink.held.filter(({ topic }) => topic === kept).map((assignment) => ({ assignment, offset: 1n })));
    await harness.createTopic(gone, 1);
    await harness.produce(gone, lines(0, 1));
    await sink.until((probe) => probe.records.length === 4 && !isWaitedFor(probe));
    expect([sink.records.at(-1)?.topic, sink.records.at(-1)?.offset, sink.failures]).toEqual([gone, 0n, []]);
    await session.close(5_000);
  },
};

interface Reader extends Joined {
  readonly topic: string;
  readonly groupId: string;
  /** Of its first assignment. */
  readonly ids: readonly (string | null | undefined)[];
}

/** A member that has read a topic of one partition to its end at 4, and has committed that. */
async function reader(harness: DriverHarness, change: Partial<Subscription>): Promise<Reader> {
  const topic = await topicOf(harness, 1);
  const groupId = harness.uniqueName("group");
  await harness.produce(topic, lines(0, 4));
  const { sink, session } = await join(harness, { topics: [topic], groupId, ...change });
  await sink.until(({ records }) => records.length >= 4);
  await session.commit(sink.held.map((assignment) => ({ assignment, offset: 4n })));
  return { topic, groupId, sink, session, ids: sink.held.map(({ topicId }) => topicId) };
}

async function recreate(harness: DriverHarness, topic: string): Promise<void> {
  await harness.deleteTopic(topic);
  await pause(300);
  await harness.createTopic(topic, 1);
}

/** Recreates the topic and writes more records than the old one had. */
async function recreateFull(harness: DriverHarness, topic: string): Promise<void> {
  await recreate(harness, topic);
  await harness.produce(
    topic,
    lines(0, 8).map((line) => ({ ...line, value: "new" })),
  );
}

function isNew({ value }: { readonly value: Uint8Array | null }): boolean {
  return text(value) === "new";
}

/** Commits every partition of a topic at an offset, as a member that then leaves. */
async function commitAt(
  harness: DriverHarness,
  { topic, groupId }: { readonly topic: string; readonly groupId: string },
  offset: bigint,
): Promise<void> {
  const { sink, session } = await join(harness, { topics: [topic], groupId });
  await sink.until(
    ({ batches, held }) => held.length > 0 && held.every((assignment) => batches.some((batch) => batch.assignment === assignment)),
  );
  await session.commit(sink.held.map((assignment) => ({ assignment, offset })));
  await session.close(5_000);
}

/** What is missing where a member starts: reported by `connect`, or by `failed`. */
async function failureOf(harness: DriverHarness, change: Partial<Subscription>): Promise<LostRange | null> {
  try {
    const { sink, session } = await join(harness, change);
    await sink.until(({ failures, records }) => failures.length > 0 || records.length > 0);
    await session.close(5_000);
    return lostOf(sink.failures[0]);
  } catch (error) {
    return lostOf(error);
  }
}

function lostOf(error: unknown): LostRange | null {
  const { lost } = (error ?? {}) as { readonly lost?: LostRange };
  const code = codeOf(error);
  return code === "offset-out-of-range" || code === "topic-recreated" ? (lost ?? null) : null;
}

function codeOf(error: unknown): unknown {
  return ((error ?? {}) as { readonly code?: unknown }).code;
}

function offsetsOf(sink: ProbeSink, of: number): readonly bigint[] {
  return sink.records.filter(({ partition }) => partition === of).map(({ offset }) => offset);
}
