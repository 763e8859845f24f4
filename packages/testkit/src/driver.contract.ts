import type { PartitionAssignment } from "@cdckit/consumer";
import {
  type DriverContractOptions,
  firstOffset,
  firstRecord,
  join,
  latch,
  lines,
  pause,
  type TestFramework,
  text,
  topicOf,
  type Trial,
} from "./driver-trial.ts";
import { capabilityTrials, has, trialsByCapability } from "./driver-capability.contract.ts";
import { logTrials } from "./driver-log.contract.ts";
import { writeTrials } from "./driver-write.contract.ts";
import { commitOf } from "./probe-sink.ts";

export type { TestFramework } from "./driver-trial.ts";

/**
 * What the consumer relies on, as tests. Every driver passes them. What holds only with a capability is skipped for a driver whose
 * `capabilities` say that it lacks it, with the reason that they give.
 */
export function testDriverContract(name: string, framework: TestFramework, { harness, skip = [] }: DriverContractOptions): void {
  const { capabilities } = harness.driver();
  framework.describe(`the driver contract: ${name}`, () => {
    const declare = (sentence: string, trial: Trial, lacking?: string): void => {
      const reason = lacking ?? skip.find(({ test }) => test === sentence)?.reason;
      if (reason === undefined) {
        framework.test(sentence, () => trial(harness, framework));
      } else {
        framework.test.skip(`${sentence} (skipped: ${reason})`, async () => {});
      }
    };
    for (const [sentence, trial] of Object.entries({ ...trials, ...logTrials, ...writeTrials, ...capabilityTrials })) {
      declare(sentence, trial);
    }
    for (const [sentence, { needs, except, trial }] of Object.entries(trialsByCapability)) {
      const lacking = capabilities.reasons?.[needs] ?? `the driver lacks the capability ${needs}`;
      const excepted = except !== undefined && has(capabilities, except.capability) ? except.reason : undefined;
      declare(sentence, trial, has(capabilities, needs) ? excepted : lacking);
    }
  });
}

const trials: Readonly<Record<string, Trial>> = {
  "records come in offset order, as they were sent; null is not empty": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, [
      { partition: 0, key: "k", value: "v", timestamp: 1_700_000_000_123n, headers: [["h", Buffer.from([0, 255])]] },
      { partition: 0, key: "k", value: null, timestamp: 1n },
      { partition: 0, key: "", value: "", timestamp: 2n },
      { partition: 0, key: null, value: "last", timestamp: 3n },
    ]);
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ records }) => records.length >= 4);
    expect(sink.records.map(({ offset, timestamp, key, value }) => [offset, timestamp, text(key), text(value)])).toEqual([
      [0n, 1_700_000_000_123n, "k", "v"],
      [1n, 1n, "k", null],
      [2n, 2n, "", ""],
      [3n, 3n, null, "last"],
    ]);
    expect(sink.records[0]?.headers.map(([name, value]) => [name, [...(value ?? [])]])).toEqual([["h", [0, 255]]]);
    expect(sink.batches[0]?.headerNamesAre(firstRecord(sink), ["h"])).toEqual(true);
    expect(sink.batches[0]?.headerNamesAre(firstRecord(sink), ["h", "h"])).toEqual(false);
    await session.close(5_000);
  },

  "a batch tells its partition, its end and the end of the log": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 3));
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ records }) => records.length >= 3);
    const last = sink.batches.at(-1);
    expect([last?.topic, last?.partition, last?.nextOffset]).toEqual([topic, 0, 3n]);
    expect(last?.highWatermark ?? 3n).toEqual(3n);
    expect((last?.byteLength ?? 0) > 0).toEqual(true);
    expect(sink.held.includes(last?.assignment as never)).toEqual(true);
    await session.close(5_000);
  },

  "many partitions are read, committed and given back without a warning of the process": async (harness, { expect }) => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`);
    process.on("warning", note);
    try {
      const topic = await topicOf(harness, 24);
      await harness.produce(topic, Array.from({ length: 24 }, (_, partition) => lines(partition, 2)).flat());
      const { sink, session } = await join(harness, { topics: [topic] });
      await sink.until(({ records }) => records.length >= 48);
      await session.commit(sink.held.map((assignment) => ({ assignment, offset: 2n })));
      await session.close(5_000);
    } finally {
      process.off("warning", note);
    }
    expect(warnings).toEqual([]);
  },

  "a group goes on at its committed offset, and without one at the start": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 10));
    const first = await join(harness, { topics: [topic], groupId });
    await first.sink.until(({ records }) => records.length >= 10);
    const assignment = first.sink.held[0];
    expect(first.sink.records[0]?.offset).toEqual(0n);
    await first.session.commit(assignment === undefined ? [] : [{ assignment, offset: 4n }]);
    await first.session.close(5_000);
    expect(await harness.committed(groupId, topic, 0)).toEqual(4n);
    const second = await join(harness, { topics: [topic], groupId });
    await second.sink.until(({ records }) => records.length >= 6);
    expect(second.sink.records.map(({ offset }) => offset)).toEqual([4n, 5n, 6n, 7n, 8n, 9n]);
    await second.session.close(5_000);
  },

  "nothing is committed that was not asked for": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 5));
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ records }) => records.length >= 5);
    await session.close(5_000);
    expect(await harness.committed(groupId, topic, 0)).toEqual(null);
  },

  "it says where each partition starts before it hands anything of it over": async (harness, { expect }) => {
    for (const [from, start] of [
      ["earliest", 0n],
      ["latest", 3n],
    ] as const) {
      const topic = await topicOf(harness, 1);
      await harness.produce(topic, lines(0, 3));
      const { sink, session } = await join(harness, { topics: [topic], from });
      await sink.until(({ starts }) => starts.length > 0);
      expect(sink.starts).toEqual([{ assignment: sink.held[0], offset: start, afterRecords: 0 }]);
      await session.close(5_000);
    }
  },

  "latest starts behind what is there already": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 5));
    const { sink, session } = await join(harness, { topics: [topic], from: "latest" });
    await sink.until(({ held }) => held.length > 0);
    // Where the end is, is asked after the assignment: what is sent in between may count as there already.
    while (sink.records.length === 0) {
      await harness.produce(topic, lines(0, 1));
      await Promise.race([sink.nextCall(), pause(200)]);
    }
    expect((sink.records[0]?.offset ?? 0n) >= 5n).toEqual(true);
    await session.close(5_000);
  },

  "a start that depends on the time is kept: who takes the partition over before its first commit passes nothing over": async (
    harness,
    { expect },
  ) => {
    for (const from of ["latest", { timestamp: 1_500n }] as const) {
      const topic = await topicOf(harness, 1);
      const groupId = harness.uniqueName("group");
      await harness.produce(topic, [{ partition: 0, value: "before", timestamp: 1_000n }]);
      const first = await join(harness, { topics: [topic], groupId, from });
      await first.sink.until(({ starts }) => starts.length > 0);
      expect(await harness.committed(groupId, topic, 0)).toEqual(1n);
      await harness.produce(topic, [{ partition: 0, value: "unhandled", timestamp: 1_000n }]);
      await first.session.close(5_000);
      const second = await join(harness, { topics: [topic], groupId, from });
      await second.sink.until(({ records }) => records.length > 0);
      expect(second.sink.records[0]?.offset).toEqual(1n);
      await second.session.close(5_000);
    }
  },

  "a time starts at the first record of it or later, and at the end if there is none": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const stamped = (partition: number, timestamp: bigint) => ({ partition, value: `at ${timestamp}`, timestamp });
    await harness.produce(
      topic,
      [1_000n, 2_000n, 3_000n].map((time) => stamped(0, time)),
    );
    await harness.produce(topic, [stamped(1, 1_000n)]);
    const { sink, session } = await join(harness, { topics: [topic], from: { timestamp: 1_500n } });
    await sink.until(({ records }) => records.length >= 2);
    await harness.produce(topic, [stamped(1, 1_100n)]);
    await sink.until(({ records }) => records.length >= 3);
    const seen = sink.records.map(({ partition, offset }) => `${partition}:${offset}`).sort();
    expect(seen).toEqual(["0:1", "0:2", "1:1"]);
    await session.close(5_000);
  },

  "offsets are started at, and what is left out at the first record; a commit goes before them": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, [...lines(0, 4), ...lines(1, 2)]);
    const from = { offsets: { [topic]: { 0: 2n } } };
    const first = await join(harness, { topics: [topic], groupId, from });
    await first.sink.until(({ records }) => records.length >= 4);
    expect(first.sink.records.map(({ partition, offset }) => `${partition}:${offset}`).sort()).toEqual(["0:2", "0:3", "1:0", "1:1"]);
    const assignment = first.sink.held.find(({ partition }) => partition === 0);
    await first.session.commit(assignment === undefined ? [] : [{ assignment, offset: 3n }]);
    await first.session.close(5_000);
    const second = await join(harness, { topics: [topic], groupId, from });
    await second.sink.until(({ records }) => records.some(({ partition }) => partition === 0));
    expect(second.sink.records.find(({ partition }) => partition === 0)?.offset).toEqual(3n);
    await second.session.close(5_000);
  },

  "an offset that the log does not have is a lost range, also if it was asked for": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 3));
    const sink = await join(harness, { topics: [topic], from: { offsets: { [topic]: { 0: 9n } } } }).then(
      async (joined) => {
        await joined.sink.until(({ failures }) => failures.length > 0);
        await joined.session.close(5_000);
        return joined.sink.failures[0];
      },
      (error: Error) => error,
    );
    expect((sink as { readonly code?: unknown } | undefined)?.code).toEqual("offset-out-of-range");
  },

  "a partition is moved while it is read, back and ahead, and what is committed of it then is the new position": async (
    harness,
    { expect },
  ) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, [...lines(0, 6), ...lines(1, 1)]);
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    if (session.seek === undefined) {
      return session.close(5_000); // a capability that a client may lack
    }
    await sink.until(({ records }) => records.length >= 7);
    const heldOf = () => sink.held.filter(({ partition }) => partition === 0).at(-1);
    const move = (offset: bigint): void => {
      const old = heldOf();
      const renewed = old === undefined ? null : (session.seek?.(old, offset) ?? null);
      expect([renewed?.topic, renewed?.partition, (renewed?.epoch ?? 0) > (old?.epoch ?? 0)]).toEqual([topic, 0, true]);
      expect(heldOf() === renewed).toEqual(true);
      expect(old === undefined ? null : (session.seek?.(old, 0n) ?? null)).toEqual(null);
    };
    const first = heldOf();
    await session.commit(first === undefined ? [] : [{ assignment: first, offset: 6n }]);
    move(2n);
    await sink.until(({ records }) => records.length >= 11);
    expect(sink.records.slice(7).map(({ partition, offset }) => `${partition}:${offset}`)).toEqual(["0:2", "0:3", "0:4", "0:5"]);
    const back = heldOf();
    await session.commit([
      ...(back === undefined ? [] : [{ assignment: back, offset: 3n }]),
      ...(first === undefined ? [] : [{ assignment: first, offset: 6n }]),
    ]);
    expect(await harness.committed(groupId, topic, 0)).toEqual(3n);
    move(5n);
    await sink.until(({ records }) => records.length >= 12);
    expect(sink.records.slice(11).map(({ partition, offset }) => `${partition}:${offset}`)).toEqual(["0:5"]);
    await harness.produce(topic, [...lines(0, 1), ...lines(1, 1)]);
    await sink.until(({ records }) => records.length >= 14);
    expect(
      sink.records
        .slice(12)
        .map(({ partition, offset }) => `${partition}:${offset}`)
        .sort(),
    ).toEqual(["0:6", "1:1"]);
    await session.close(5_000);
  },

  "a partition is moved before anything of it is read, and the new position is committed": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 4));
    const first = await join(harness, { topics: [topic], groupId });
    await first.sink.until(({ records }) => records.length >= 4);
    await first.session.commit(first.sink.held.map((assignment) => ({ assignment, offset: 4n })));
    await first.session.close(5_000);
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ held }) => held.length > 0);
    const [assignment] = sink.held;
    const renewed = assignment === undefined ? null : (session.seek?.(assignment, 1n) ?? null);
    if (renewed !== null) {
      await session.commit([{ assignment: renewed, offset: 1n }]);
      expect(await harness.committed(groupId, topic, 0)).toEqual(1n);
      await sink.until(({ records }) => records.length >= 3);
      expect(sink.records.map(({ offset }) => offset)).toEqual([1n, 2n, 3n]);
    } // a client may lack the capability
    await session.close(5_000);
  },

  "a partition that is moved while it starts goes on there, and keeps its topic's id": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 4));
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ records }) => records.length >= 4);
    const [first] = sink.held;
    let moved: PartitionAssignment | null = null;
    let isMoving = false;
    const assigned = sink.assigned.bind(sink);
    sink.assigned = (assignments): void => {
      assigned(assignments);
      const again = assignments.find(({ partition }) => partition === 0);
      if (!isMoving && again !== undefined) {
        isMoving = true; // the new assignment is told of before `seek` returns
        moved = session.seek?.(again, 1n) ?? null;
        isMoving = false;
      }
    };
    // Brokers learn of the partitions one after the other, so that members may be assigned them more than once.
    const isCommitted = async (): Promise<boolean> => {
      await session.commit(moved === null ? [] : [{ assignment: moved, offset: 1n }]);
      return (await harness.committed(groupId, topic, 0)) === 1n;
    };
    await harness.addPartitions(topic, 2);
    await sink.until(({ held }) => held.length >= 2);
    if ((moved as PartitionAssignment | null) !== null) {
      while (!(await isCommitted())) {
        await Promise.race([sink.nextCall(), pause(100)]);
      }
      await sink.until(({ records }) => records.length >= 7 && records.at(-1)?.offset === 3n);
      expect(sink.records[4]?.offset).toEqual(1n);
      expect(((moved as PartitionAssignment | null)?.topicId ?? null) === (first?.topicId ?? null)).toEqual(true);
    } // a client may lack the capability, or not be assigned again what it keeps
    await session.close(5_000);
  },

  "a regular expression finds its topics, also one with a memory": async (harness, { expect }) => {
    const prefix = harness.uniqueName("many");
    for (const name of [`${prefix}.a`, `${prefix}.b`, `${prefix}.c`]) {
      await harness.createTopic(name, 1);
      await harness.produce(name, lines(0, 1));
    }
    const { sink, session } = await join(harness, { topics: [new RegExp(`^${prefix}\\.[ab]$`, "g")] });
    await sink.until(({ records }) => records.length >= 2);
    expect(sink.records.map(({ topic }) => topic).sort()).toEqual([`${prefix}.a`, `${prefix}.b`]);
    await session.close(5_000);
  },

  "a topic that does not exist is an error that names it": async (harness, { expect }) => {
    const missing = harness.uniqueName("missing");
    const error = await join(harness, { topics: [missing] }).then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error instanceof Error && error.message.includes(missing)).toEqual(true);
  },

  "the next batch waits until the consumer is ready": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    await harness.produce(topic, [...lines(0, 3), ...lines(1, 3)]);
    const held = latch();
    const { sink, session } = await join(harness, { topics: [topic] }, (probe) => {
      probe.onBatch = () => (probe.batches.length === 1 ? held.promise : undefined);
    });
    // A client may hand over both partitions in one turn.
    await sink.until(({ batches }) => batches.length >= 1);
    const first = sink.batches[0];
    await harness.produce(topic, lines(first?.partition ?? 0, 2));
    await pause(50);
    expect(sink.batches.filter(({ partition }) => partition === first?.partition).length).toEqual(1);
    held.open();
    await sink.until(({ records }) => records.length >= 8);
    await session.close(5_000);
  },

  "a batch that is not finished holds up its own partition and no other": async (harness, { expect }) => {
    const topic = await topicOf(harness, 4);
    const groupId = harness.uniqueName("group");
    await harness.produce(
      topic,
      [0, 1, 2, 3].flatMap((partition) => lines(partition, 5)),
    );
    const unfinished = latch();
    const { sink, session } = await join(harness, { topics: [topic], groupId }, (probe) => {
      probe.onBatch = ({ partition }) => (partition === 0 ? unfinished.promise : undefined);
    });
    const of = (partition: number): readonly bigint[] =>
      sink.records.filter((one) => one.partition === partition).map(({ offset }) => offset);
    await sink.until(() => [1, 2, 3].every((partition) => of(partition).length >= 5) && of(0).length > 0);
    await harness.produce(
      topic,
      [0, 1, 2, 3].flatMap((partition) => lines(partition, 5)),
    );
    await sink.until(() => [1, 2, 3].every((partition) => of(partition).length >= 10));
    expect(sink.batches.filter(({ partition }) => partition === 0).length).toEqual(1);
    expect(of(0).length <= 5).toEqual(true);
    // The group is told the truth of it meanwhile.
    await session.commit(sink.batches.filter(({ partition }) => partition !== 0).map(commitOf));
    expect(await harness.committed(groupId, topic, 3)).toEqual(10n);
    unfinished.open();
    await sink.until(() => of(0).length >= 10);
    for (const partition of [0, 1, 2, 3]) {
      expect(of(partition)).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(i)));
    }
    await session.close(5_000);
  },

  "a partition whose batch is not finished goes only when the consumer is done with it": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, [...lines(0, 5), ...lines(1, 5)]);
    const handling = latch();
    const first = await join(harness, { topics: [topic], groupId }, (probe) => {
      probe.onBatch = ({ partition }) => (partition === 1 ? handling.promise : undefined);
    });
    await first.sink.until(({ batches }) => batches.some(({ partition }) => partition === 1));
    await pause(300); // whatever a client waits for by itself, it waits no more
    let isDone = false;
    first.sink.onRevoked = async () => {
      await pause(200);
      isDone = true;
      handling.open();
      await first.session.commit(first.sink.batches.map(commitOf));
    };
    const second = await join(harness, { topics: [topic], groupId });
    await second.sink.until(({ held }) => held.length === 1);
    expect(isDone).toEqual(true);
    await harness.produce(topic, [...lines(0, 1), ...lines(1, 1)]);
    const seen = (): readonly bigint[] =>
      [...first.sink.records, ...second.sink.records].filter(({ partition }) => partition === 1).map(({ offset }) => offset);
    await Promise.race([first.sink.until(() => seen().length >= 6), second.sink.until(() => seen().length >= 6)]);
    expect(seen()).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    await Promise.all([first.session.close(5_000), second.session.close(5_000)]);
  },

  "a paused partition is silent until it is resumed, and loses nothing": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ held }) => held.length === 2);
    const paused = sink.held.filter(({ partition }) => partition === 0);
    session.pause(paused);
    await harness.produce(topic, [...lines(0, 2), ...lines(1, 2)]);
    await sink.until(({ records }) => records.filter(({ partition }) => partition === 1).length === 2);
    expect(sink.records.filter(({ partition }) => partition === 0)).toEqual([]);
    session.resume(paused);
    await sink.until(({ records }) => records.length === 4);
    await session.close(5_000);
  },

  "members share the partitions, each partition is one member's": async (harness, { expect }) => {
    const topic = await topicOf(harness, 4);
    const groupId = harness.uniqueName("group");
    const first = await join(harness, { topics: [topic], groupId });
    await first.sink.until(({ held }) => held.length === 4);
    const second = await join(harness, { topics: [topic], groupId });
    await Promise.all([first.sink.until(({ held }) => held.length === 2), second.sink.until(({ held }) => held.length === 2)]);
    const held = [...first.sink.held, ...second.sink.held].map(({ partition }) => partition);
    expect(held.sort((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    await second.session.close(5_000);
    await first.sink.until(({ held: again }) => again.length === 4);
    await first.session.close(5_000);
  },

  "a partition goes only when the consumer has committed what it was handling": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(1, 5));
    const handling = latch();
    const first = await join(harness, { topics: [topic], groupId }, (probe) => {
      probe.onBatch = () => handling.promise;
    });
    first.sink.onRevoked = async () => {
      await pause(20);
      handling.open();
      await first.session.commit(first.sink.batches.map(commitOf));
    };
    await first.sink.until(({ batches }) => batches.length === 1);
    const handled = first.sink.batches[0]?.nextOffset;
    const second = await join(harness, { topics: [topic], groupId });
    await first.sink.until(({ revocations }) => revocations.length > 0);
    await harness.produce(topic, lines(1, 1));
    await Promise.race([first.sink.until(({ batches }) => batches.length > 1), second.sink.until(({ batches }) => batches.length > 0)]);
    // Whoever has the partition now goes on behind what was handled.
    const next = second.sink.batches[0] ?? first.sink.batches[1];
    expect(next === undefined ? null : firstOffset(next)).toEqual(handled);
    await Promise.all([first.session.close(5_000), second.session.close(5_000)]);
  },

  "a seek of one partition while another is given up does not give it away early": async (harness, { expect }) => {
    const topic = await topicOf(harness, 2);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, [...lines(0, 5), ...lines(1, 5)]);
    const first = await join(harness, { topics: [topic], groupId });
    await first.sink.until(({ records }) => records.length >= 10);
    const taken = latch();
    let isGivingUp = false;
    let moved: readonly PartitionAssignment[] = [];
    let movedWhileGoing: readonly PartitionAssignment[] = [];
    first.sink.onRevoked = async (going) => {
      movedWhileGoing = going.flatMap((assignment) => first.session.seek?.(assignment, 2n) ?? []);
      const kept = first.sink.held.filter((assignment) => !going.includes(assignment)); // none where a rebalance takes all
      moved = kept.flatMap((assignment) => first.session.seek?.(assignment, 2n) ?? []);
      isGivingUp = true;
      await Promise.race([taken.promise, pause(1_000)]);
      isGivingUp = false;
    };
    const second = await join(harness, { topics: [topic], groupId });
    await second.sink.until(({ held }) => held.length === 1);
    const isEarly = isGivingUp;
    taken.open();
    await first.sink.until(({ records }) =>
      moved.every(({ partition }) => records.filter((record) => record.partition === partition).length >= 8),
    );
    expect([isEarly, movedWhileGoing]).toEqual([false, []]);
    await Promise.all([first.session.close(5_000), second.session.close(5_000)]);
  },

  "a commit for an assignment that is over changes nothing": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const groupId = harness.uniqueName("group");
    await harness.produce(topic, lines(0, 5));
    const { sink, session } = await join(harness, { topics: [topic], groupId });
    await sink.until(({ records }) => records.length >= 5);
    const [current] = sink.held;
    const stale = { topic, partition: 0, epoch: (current?.epoch ?? 0) - 1 };
    await session.commit([{ assignment: stale, offset: 5n }]);
    expect(await harness.committed(groupId, topic, 0)).toEqual(null);
    await session.close(5_000);
  },

  "the group's word comes with the join and again and again, each time for no longer than a session": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ acknowledgements }) => acknowledgements.length >= 3);
    expect(sink.acknowledgements.every((validForMs) => validForMs > 0 && validForMs <= harness.sessionTimeoutMs)).toEqual(true);
    // While a batch is held back, as while nothing is fetched.
    const open = latch();
    sink.onBatch = () => open.promise;
    await harness.produce(topic, lines(0, 1));
    await sink.until(({ batches }) => batches.length >= 1);
    const soFar = sink.acknowledgements.length;
    await sink.until(({ acknowledgements }) => acknowledgements.length >= soFar + 2);
    open.open();
    await session.close(5_000);
    const atClose = sink.acknowledgements.length;
    await pause(300);
    expect(sink.acknowledgements.length).toEqual(atClose);
  },

  "closing twice is closing once, and nothing is handed over afterwards": async (harness, { expect }) => {
    const topic = await topicOf(harness, 1);
    await harness.produce(topic, lines(0, 1));
    const { sink, session } = await join(harness, { topics: [topic] });
    await sink.until(({ records }) => records.length === 1);
    await Promise.all([session.close(5_000), session.close(5_000)]);
    await harness.produce(topic, lines(0, 1));
    await pause(50);
    expect(sink.records.length).toEqual(1);
    expect(sink.failures).toEqual([]);
  },
};
