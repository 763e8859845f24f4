import type { CdcEvent, Decoder } from "@cdckit/decode";
import { type CommittedOffset, memory, MemoryBroker } from "@cdckit/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";

/** What happens when so many events were handled. */
interface Disturbance {
  readonly at: number;
  readonly what: "join" | "leave" | "expire";
}

interface Schedule {
  readonly partitions: number;
  readonly recordsEach: number;
  readonly maxBatchRecords: number;
  /** Turns of the event loop that the n-th handler call takes, in rotation. */
  readonly turns: readonly number[];
  readonly disturbances: readonly Disturbance[];
  readonly streams: boolean;
}

const scheduleArbitrary: fc.Arbitrary<Schedule> = fc.record({
  partitions: fc.integer({ min: 1, max: 4 }),
  recordsEach: fc.integer({ min: 1, max: 40 }),
  maxBatchRecords: fc.integer({ min: 1, max: 12 }),
  turns: fc.array(fc.constantFrom(0, 0, 0, 1, 2), { minLength: 1, maxLength: 10 }),
  disturbances: fc.array(fc.record({ at: fc.integer({ min: 1, max: 120 }), what: fc.constantFrom("join", "leave", "expire") }), {
    maxLength: 5,
  }),
  streams: fc.boolean(),
});

/** Refuses, at the moment it comes, a commit above a record that is not handled. */
class WatchedBroker extends MemoryBroker {
  readonly handled = new Map<string, number>();
  readonly violations: string[] = [];

  override commit(commit: CommittedOffset): void {
    const before = this.committed(commit.groupId, commit.topic, commit.partition);
    if (before !== null && commit.offset < before) {
      this.violations.push(`partition ${commit.partition} went back from ${before} to ${commit.offset}`);
    }
    for (let offset = 0n; offset < commit.offset; offset++) {
      if (!this.handled.has(placeOf(commit.partition, offset))) {
        this.violations.push(`partition ${commit.partition} was committed to ${commit.offset}, and ${offset} is not handled`);
      }
    }
    super.commit(commit);
  }

  handle(partition: number, offset: bigint): void {
    const place = placeOf(partition, offset);
    this.handled.set(place, (this.handled.get(place) ?? 0) + 1);
  }
}

test("whatever joins, leaves and expires in the middle: nothing is lost, no commit is early, and only expiry repeats", async () => {
  await fc.assert(
    fc.asyncProperty(scheduleArbitrary, async (schedule) => {
      const broker = await play(schedule);
      expect(broker.violations).toEqual([]);
      expect(broker.handled.size).toBe(schedule.partitions * schedule.recordsEach);
      // What was handled when the session ran out is nobody's to commit.
      if (!schedule.disturbances.some(({ what }) => what === "expire")) {
        const committed = Array.from({ length: schedule.partitions }, (_, partition) => broker.committed("g", "t", partition));
        expect(committed).toEqual(committed.map(() => BigInt(schedule.recordsEach)));
        expect([...broker.handled.values()].filter((times) => times > 1)).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

async function play(schedule: Schedule): Promise<WatchedBroker> {
  const broker = new WatchedBroker({ t: schedule.partitions });
  for (let partition = 0; partition < schedule.partitions; partition++) {
    broker.append("t", ...Array.from({ length: schedule.recordsEach }, () => ({ value: "", partition })));
  }
  const members: Consumer[] = [];
  const running: Promise<void>[] = [];
  let calls = 0;
  const join = (): void => {
    const driver = memory({ broker, maxBatchRecords: schedule.maxBatchRecords });
    const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: offsetDecoder, signals: false });
    members.push(consumer);
    running.push(schedule.streams ? readAll(consumer, handle) : consumer.on("*", handle).run());
  };
  const disturb = (what: Disturbance["what"]): void => {
    if (what === "expire") {
      void broker.group("g").expire();
    } else if (what === "join") {
      join();
    } else if (members.length > 1) {
      void members.shift()?.stop();
    }
  };
  const finish = (): void => {
    if (broker.handled.size === schedule.partitions * schedule.recordsEach) {
      for (const consumer of members) {
        void consumer.stop();
      }
    }
  };
  const handle = (event: CdcEvent): void | Promise<void> => {
    const { partition, offset } = event.record;
    calls++;
    const turns = schedule.turns[calls % schedule.turns.length] ?? 0;
    for (const { what } of schedule.disturbances.filter(({ at }) => at === calls)) {
      disturb(what);
    }
    const done = (): void => {
      broker.handle(partition, offset);
      finish();
    };
    return turns === 0 ? done() : turnsOfTheLoop(turns).then(done);
  };
  join();
  for (let i = 0; i < running.length; i++) {
    await running[i];
  }
  return broker;
}

async function readAll(consumer: Consumer, handle: (event: CdcEvent) => void | Promise<void>): Promise<void> {
  for await (const delivery of consumer.stream()) {
    await handle(delivery.event);
    delivery.done();
  }
}

const offsetDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record }) => [
    { kind: "unknown", record: { partition: batch.partition, offset: batch.offsetAt(record) } } as unknown as CdcEvent, // all that is read
  ],
  explain: () => Promise.reject(new Error("not used")),
};

async function turnsOfTheLoop(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function placeOf(partition: number, offset: bigint): string {
  return `${partition}:${offset}`;
}
