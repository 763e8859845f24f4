import { type CdcEvent, DecodeError, type Decoder, type RecordCursor } from "@cdckit/decode";
import { type CommittedOffset, memory, MemoryBroker, seededScheduler, type VirtualClock, virtualClock } from "@cdckit/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { DeliveryOptions } from "./delivery/delivery-options.ts";
import type { FailureOptions } from "./failure/failure-options.ts";

/** What happens after so many events were handed on. */
interface Disturbance {
  readonly at: number;
  readonly what: "join" | "leave" | "expire";
}

/** What becomes of a record: it is handled, it fails so often before that, it never is, it does not decode, or its schema comes late. */
type Fate = "fine" | "fails-once" | "fails-twice" | "poison" | "broken" | "late-schema" | "outage";

interface Schedule {
  readonly seed: number;
  readonly partitions: number;
  /** Key and fate of each record of each partition. Key 0 means no key. */
  readonly records: readonly { readonly key: number; readonly fate: Fate }[];
  readonly maxBatchRecords: number;
  /** Milliseconds that the n-th handler call takes, in rotation. 0 is at once. */
  readonly delaysMs: readonly number[];
  readonly disturbances: readonly Disturbance[];
  /** Mixed: odd keys belong to a table whose events are handled one by one, even keys to a table with batches. */
  readonly reads: "handlers" | "batches" | "mixed" | "stream";
  readonly order: "key" | "partition" | "none";
  readonly concurrency: number;
  readonly maxOutOfOrder: number;
  readonly maxInFlight: number | undefined;
  readonly batch: { readonly maxEvents: number; readonly maxMs: number } | undefined;
  readonly poison: "dead-letter" | "park-key";
}

const scheduleArbitrary: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(),
  partitions: fc.integer({ min: 1, max: 3 }),
  records: fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: 5 }),
      fate: fc.constantFrom<Fate>("fine", "fine", "fine", "fine", "fails-once", "fails-twice", "poison", "broken", "late-schema", "outage"),
    }),
    { minLength: 1, maxLength: 30 },
  ),
  maxBatchRecords: fc.integer({ min: 1, max: 12 }),
  delaysMs: fc.array(fc.constantFrom(0, 0, 0, 1, 5, 50), { minLength: 1, maxLength: 10 }),
  disturbances: fc.array(fc.record({ at: fc.integer({ min: 1, max: 80 }), what: fc.constantFrom("join", "leave", "expire") }), {
    maxLength: 5,
  }),
  reads: fc.constantFrom("handlers", "handlers", "batches", "mixed", "stream"),
  order: fc.constantFrom("key", "key", "partition", "none"),
  concurrency: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 32 })),
  maxOutOfOrder: fc.constantFrom(1, 3, 10_000),
  maxInFlight: fc.constantFrom(undefined, 1, 3),
  batch: fc.option(fc.record({ maxEvents: fc.integer({ min: 1, max: 7 }), maxMs: fc.constantFrom(1, 100) }), { nil: undefined }),
  poison: fc.constantFrom("dead-letter", "park-key"),
});

/** Knows what was handled, and notes violations at the moment they happen. */
class WatchedBroker extends MemoryBroker {
  readonly handled = new Map<string, number>();
  readonly dead = new Set<string>();
  readonly violations: string[] = [];
  max = 0;
  #running = new Map<number, number>();

  override commit(commit: CommittedOffset): void {
    const { groupId, topic, partition, offset } = commit;
    const before = this.committed(groupId, topic, partition);
    if (before !== null && offset < before) {
      this.violations.push(`partition ${partition} went back from ${before} to ${offset}`);
    }
    for (let lower = 0n; lower < offset; lower++) {
      if (!this.isDone(partition, lower)) {
        this.violations.push(`partition ${partition} was committed to ${offset}, and ${lower} is not handled`);
      }
    }
    super.commit(commit);
  }

  /** Dead letters, as they are in the log. */
  lookAtDead(): void {
    for (const { headers } of this.read("dead", 0, 0n, 100_000)) {
      const text = (name: string): string => Buffer.from(headers.find(([other]) => other === name)?.[1] ?? []).toString();
      this.dead.add(placeOf(Number(text("__connect.errors.partition")), BigInt(text("__connect.errors.offset"))));
    }
  }

  isDone(partition: number, offset: bigint): boolean {
    const place = placeOf(partition, offset);
    if (!this.handled.has(place) && !this.dead.has(place)) {
      this.lookAtDead();
    }
    return this.handled.has(place) || this.dead.has(place);
  }

  start(partition: number, offset: bigint, before: readonly bigint[]): void {
    for (const lower of before) {
      if (!this.isDone(partition, lower)) {
        this.violations.push(`${partition}:${offset} overtook ${partition}:${lower}`);
      }
    }
    this.#run(partition, 1);
  }

  handle(partition: number, offset: bigint): void {
    const place = placeOf(partition, offset);
    this.handled.set(place, (this.handled.get(place) ?? 0) + 1);
  }

  end(partition: number): void {
    this.#run(partition, -1);
  }

  #run(partition: number, by: number): void {
    const running = (this.#running.get(partition) ?? 0) + by;
    this.#running.set(partition, running);
    this.max = Math.max(this.max, running);
  }
}

/** Each is a run of the whole consumer. CDCKIT_SCHEDULES asks for more. */
const schedules = Number(process.env["CDCKIT_SCHEDULES"] ?? 500);

/** Found by chance once. They always run. */
const schedulesThatFailed: [Schedule][] = [
  [
    // A record whose schema did not come was committed when its partition went, while others were held for a batch handler.
    {
      seed: 0,
      partitions: 2,
      records: [
        { key: 0, fate: "poison" },
        { key: 0, fate: "outage" },
        { key: 0, fate: "fine" },
        { key: 0, fate: "fails-twice" },
      ],
      maxBatchRecords: 4,
      delaysMs: [0],
      disturbances: [{ at: 11, what: "join" }],
      reads: "batches",
      order: "key",
      concurrency: 1,
      maxOutOfOrder: 1,
      maxInFlight: undefined,
      batch: undefined,
      poison: "dead-letter",
    },
  ],
  [
    // A dead letter was written twice: records before it were left at a clean rebalance.
    {
      seed: 0,
      partitions: 2,
      records: [
        { key: 1, fate: "fails-twice" },
        { key: 3, fate: "fine" },
        { key: 0, fate: "broken" },
      ],
      maxBatchRecords: 3,
      delaysMs: [0],
      disturbances: [{ at: 1, what: "join" }],
      reads: "mixed",
      order: "key",
      concurrency: 1,
      maxOutOfOrder: 10_000,
      maxInFlight: 3,
      batch: undefined,
      poison: "dead-letter",
    },
  ],
  [
    // A dead letter that the reader of a stream was writing was not waited for.
    {
      seed: 0,
      partitions: 2,
      records: (["fine", "fine", "late-schema", "broken", "fine", "broken", "fine"] as const).map((fate) => ({ key: 0, fate })),
      maxBatchRecords: 7,
      delaysMs: [0],
      disturbances: [{ at: 8, what: "join" }],
      reads: "stream",
      order: "key",
      concurrency: 2,
      maxOutOfOrder: 1,
      maxInFlight: undefined,
      batch: undefined,
      poison: "dead-letter",
    },
  ],
  [
    // A handler that stopped its consumer was not waited for, because it was still on the stack.
    {
      seed: 0,
      partitions: 1,
      records: [{ key: 0, fate: "fine" }],
      maxBatchRecords: 1,
      delaysMs: [1],
      disturbances: [
        { at: 1, what: "join" },
        { at: 1, what: "leave" },
      ],
      reads: "handlers",
      order: "key",
      concurrency: 2,
      maxOutOfOrder: 1,
      maxInFlight: undefined,
      batch: undefined,
      poison: "dead-letter",
    },
  ],
  [
    // Records after one that waited in its lane had been handled. They came again after a clean rebalance.
    {
      seed: 0,
      partitions: 2,
      records: [0, 0, 0, 0, 1].map((key) => ({ key, fate: "fine" })),
      maxBatchRecords: 5,
      delaysMs: [5],
      disturbances: [{ at: 7, what: "join" }],
      reads: "handlers",
      order: "key",
      concurrency: 2,
      maxOutOfOrder: 3,
      maxInFlight: undefined,
      batch: undefined,
      poison: "dead-letter",
    },
  ],
];

let deadInAll = 0;
let concurrentInAll = 0;

test("in every schedule nothing is lost or overtaken, no commit is early, and only an expired session repeats records", async () => {
  await fc.assert(
    fc.asyncProperty(scheduleArbitrary, async (schedule) => {
      const broker = await play(schedule);
      const expires = schedule.disturbances.some(({ what }) => what === "expire");
      broker.lookAtDead();
      expect(broker.violations).toEqual([]);
      const all = Array.from({ length: schedule.partitions }, (_, partition) =>
        schedule.records.map((_record, offset) => placeOf(partition, BigInt(offset))),
      ).flat();
      expect(all.filter((place) => !broker.handled.has(place) && !broker.dead.has(place))).toEqual([]);
      deadInAll += broker.dead.size;
      concurrentInAll += broker.max > 1 ? 1 : 0;
      // What was handled when the session ran out can be committed by nobody.
      if (!expires) {
        const committed = Array.from({ length: schedule.partitions }, (_, partition) => broker.committed("g", "t", partition));
        expect(committed).toEqual(committed.map(() => BigInt(schedule.records.length)));
        expect([...broker.handled].filter(([, times]) => times > 1)).toEqual([]);
        expect(broker.max).toBeLessThanOrEqual(
          { handlers: schedule.concurrency, batches: 1, mixed: schedule.concurrency + 1, stream: 1 }[schedule.reads],
        );
        expect(broker.endOffset("dead", 0)).toBe(BigInt(broker.dead.size));
      }
    }),
    { numRuns: schedules, examples: schedulesThatFailed },
  );
  // The schedules must reach such cases.
  expect(deadInAll).toBeGreaterThan(schedules);
  expect(concurrentInAll).toBeGreaterThan(schedules / 10);
}, 600_000);

class FatefulDecoder implements Decoder {
  readonly #tried = new Set<string>();
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  decodeAt({ batch, record, valueBytes }: RecordCursor): CdcEvent[] | Promise<CdcEvent[]> {
    const fate = Buffer.from(valueBytes ?? []).toString() as Fate;
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    const isOdd =
      Number(
        Buffer.from(batch.keyAt(record) ?? [])
          .toString()
          .slice(1),
      ) %
        2 ===
      1;
    const event = {
      kind: "row",
      table: { schema: "s", name: isOdd ? "odd" : "t" },
      row: fate,
      schemaId: null,
      record: ref,
    } as unknown as CdcEvent; // as read
    if (fate === "broken") {
      throw new DecodeError("malformed", "broken");
    }
    const isFirst = !this.#tried.has(placeOf(ref.partition, ref.offset));
    this.#tried.add(placeOf(ref.partition, ref.offset));
    if (fate === "outage" && isFirst) {
      throw new DecodeError("schema-unavailable", "down");
    }
    return fate === "late-schema" && isFirst ? new Promise((resolve) => void this.#clock.after(5, () => resolve([event]))) : [event];
  }

  decode(): never {
    throw new Error("not used");
  }

  explain(): never {
    throw new Error("not used");
  }
}

async function play(schedule: Schedule): Promise<WatchedBroker> {
  const clock = virtualClock({ scheduler: seededScheduler(schedule.seed) });
  const broker = new WatchedBroker({ t: schedule.partitions, dead: 1 }, { clock });
  for (let partition = 0; partition < schedule.partitions; partition++) {
    broker.append("t", ...schedule.records.map(({ key, fate }) => ({ key: key === 0 ? null : `k${key}`, value: fate, partition })));
  }
  const total = schedule.records.length * schedule.partitions;
  const decoder = new FatefulDecoder(clock);
  const members: Consumer[] = [];
  const running: Promise<void>[] = [];
  const failed = new Map<string, number>();
  let calls = 0;
  let isOver = false;
  const { maxOutOfOrder } = schedule;
  const delivery: DeliveryOptions =
    schedule.reads === "stream"
      ? { maxOutOfOrder }
      : {
          order: schedule.order,
          concurrency: schedule.concurrency,
          maxOutOfOrder,
          ...(schedule.maxInFlight === undefined ? {} : { maxInFlight: schedule.maxInFlight }),
          ...(schedule.batch === undefined ? {} : { batch: schedule.batch }),
        };
  const failure: FailureOptions = {
    poison: schedule.poison,
    deadLetterTopic: "dead",
    breaker: false,
    retry: { attempts: 3, initialDelayMs: 10, maxDelayMs: 40 },
  };
  const join = (): void => {
    const consumer = createConsumer({
      driver: memory({ broker, maxBatchRecords: schedule.maxBatchRecords }),
      groupId: "g",
      topics: ["t"],
      decoder,
      delivery,
      failure,
      signals: false,
      clock,
      random: () => 0.5,
    });
    members.push(consumer);
    if (schedule.reads === "stream") {
      running.push(readAll(consumer, handle));
    } else {
      const { reads } = schedule;
      if (reads === "mixed") {
        consumer.on("s.odd", { row: handle }).on("s.t", { batch: handleAll });
      } else if (reads === "batches") {
        consumer.on("*", { batch: handleAll });
      } else {
        consumer.on("*", handle);
      }
      running.push(consumer.run());
    }
  };
  const disturb = (what: Disturbance["what"]): void => {
    if (what === "expire") {
      void broker.group("g").expire();
    } else if (what === "join" && !isOver) {
      join();
    } else if (what === "leave" && members.length > 1) {
      void members.shift()?.stop();
    }
  };
  const watch = (): void =>
    void clock.after(20, () => {
      broker.lookAtDead();
      const done = new Set([...broker.handled.keys(), ...broker.dead]);
      if (done.size < total) {
        watch();
        return;
      }
      isOver = true;
      for (const consumer of members) {
        void consumer.stop();
      }
    });
  const beforeOf = (offset: bigint): bigint[] => {
    const own = schedule.records[Number(offset)]?.key;
    const lower = schedule.records.slice(0, Number(offset)).map((record, at) => ({ ...record, at: BigInt(at) }));
    // A stream's reader and batches see a partition's order, and so do handlers one at a time.
    const { reads, order, concurrency } = schedule;
    const isPartition = reads !== "mixed" && (reads !== "handlers" || order === "partition" || concurrency === 1);
    const kept = isPartition ? lower : order === "key" ? lower.filter(({ key }) => key === own) : [];
    return kept.map(({ at }) => at);
  };
  const handle = (event: CdcEvent): void | Promise<void> => {
    const { partition, offset } = event.record;
    calls++;
    const delayMs = schedule.delaysMs[calls % schedule.delaysMs.length] ?? 0;
    for (const { what } of schedule.disturbances.filter(({ at }) => at === calls)) {
      disturb(what);
    }
    broker.start(partition, offset, beforeOf(offset));
    const done = (): void => {
      broker.end(partition);
      failIfDue(event, failed, schedule.reads === "stream");
      broker.handle(partition, offset);
    };
    return delayMs === 0 ? done() : new Promise<void>((resolve) => void clock.after(delayMs, resolve)).then(done);
  };
  const handleAll = (events: readonly CdcEvent[]): void | Promise<void> => {
    const [first] = events;
    if (first === undefined) {
      throw new Error("a batch holds something");
    }
    calls++;
    const delayMs = schedule.delaysMs[calls % schedule.delaysMs.length] ?? 0;
    for (const { what } of schedule.disturbances.filter(({ at }) => at === calls)) {
      disturb(what);
    }
    const { partition, offset } = first.record;
    if (schedule.batch !== undefined && events.length > schedule.batch.maxEvents) {
      broker.violations.push(`a batch of ${events.length}`);
    }
    broker.start(partition, offset, beforeOf(offset));
    const done = (): void => {
      broker.end(partition);
      for (const event of events) {
        failIfDue(event, failed, false);
      }
      for (const { record } of events) {
        broker.handle(record.partition, record.offset);
      }
    };
    return delayMs === 0 ? done() : new Promise<void>((resolve) => void clock.after(delayMs, resolve)).then(done);
  };
  join();
  watch();
  await clock.run(
    (async () => {
      for (let i = 0; i < running.length; i++) {
        await running[i];
      }
    })(),
  );
  return broker;
}

/** Throws if the event's fate is to fail now. The reader of a stream never fails: what it makes of an event is not the consumer's. */
function failIfDue(event: CdcEvent, failed: Map<string, number>, never: boolean): void {
  const { row: fate, record } = event as unknown as { readonly row: Fate; readonly record: CdcEvent["record"] };
  const place = placeOf(record.partition, record.offset);
  const times = failed.get(place) ?? 0;
  const due = { "fails-once": 1, "fails-twice": 2, poison: Number.POSITIVE_INFINITY }[fate as string] ?? 0;
  if (!never && times < due) {
    failed.set(place, times + 1);
    throw new Error("as its fate is");
  }
}

async function readAll(consumer: Consumer, handle: (event: CdcEvent) => void | Promise<void>): Promise<void> {
  for await (const delivery of consumer.stream()) {
    await handle(delivery.event);
    delivery.done();
  }
}

function placeOf(partition: number, offset: bigint): string {
  return `${partition}:${offset}`;
}
