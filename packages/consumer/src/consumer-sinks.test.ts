import { type CdcEvent, DecodeError, type Decoder, type RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { KafkaDriver, OffsetCommit, PartitionAssignment } from "./driver.ts";
import type { ConsumerOptions } from "./options.ts";
import type { Sink, SinkBatch } from "./sink.ts";

const rowDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record, valueBytes }: RecordCursor) => {
    const [name = "", row = ""] = Buffer.from(valueBytes ?? [])
      .toString()
      .split(":");
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    const kind = name === "heartbeat" ? "heartbeat" : name === batch.topic ? "tombstone" : "row";
    return [{ kind, table: { schema: "s", name }, row, schemaId: null, record: ref } as unknown as CdcEvent]; // what is read of it
  },
  explain: () => Promise.reject(new Error("not used")),
};

/** Rows and checkpoints that move together, fenced by the latest claim: what the port requires, in memory. */
class MemoryTables {
  readonly rows: string[] = [];
  readonly checkpoints = new Map<number, bigint>();
  /** The latest assignment that was claimed. A member's own earlier assignment is fenced, too. */
  readonly owners = new Map<number, object>();
  readonly batches: number[] = [];
  delayMs = 0;
  failures: (Error | undefined)[] = [];
  /** A row that the tables refuse. */
  refuses: string | null = null;

  sink(clock: VirtualClock, name = "tables"): Sink {
    return {
      name,
      claim: async (_groupId: string, assignments: readonly PartitionAssignment[]) => {
        const known: OffsetCommit[] = [];
        for (const assignment of assignments) {
          this.owners.set(assignment.partition, assignment);
          const offset = this.checkpoints.get(assignment.partition);
          if (offset !== undefined) {
            known.push({ assignment, offset });
          }
        }
        return known;
      },
      apply: async ({ assignment, events, nextOffset }: SinkBatch) => {
        const { partition } = assignment;
        await new Promise<void>((resolve) => void clock.after(this.delayMs, resolve));
        const failure = this.failures.shift();
        if (failure !== undefined) {
          throw failure;
        }
        if (this.owners.get(partition) !== assignment) {
          throw Object.assign(new Error("another member has claimed it"), { code: "fenced" });
        }
        const rows = events.map((event) => (event as unknown as { row: string }).row);
        if (this.refuses !== null && rows.includes(this.refuses)) {
          throw Object.assign(new Error("violates a constraint"), { code: "23505" });
        }
        this.rows.push(...rows);
        this.batches.push(rows.length);
        this.checkpoints.set(partition, nextOffset);
      },
      close: async () => {},
    };
  }
}

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
}

function brokerWith(values: readonly string[], partitions = 1): Setup {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: partitions, dead: 1 }, { clock });
  broker.append("t", ...values.map((value, i) => ({ value, partition: i % partitions })));
  return { clock, broker };
}

function join({ clock, broker }: Setup, options: Partial<ConsumerOptions> = {}): Consumer {
  const driver = memory({ broker, maxBatchRecords: 4 });
  return createConsumer({
    driver,
    groupId: "g",
    topics: ["t"],
    decoder: rowDecoder,
    signals: false,
    clock,
    random: () => 0.5,
    ...options,
  });
}

/** Stops the consumer when the group's commit is made. */
function stopAt({ clock, broker }: Setup, consumer: Consumer, offset: bigint): void {
  clock.after(10, () => {
    if (broker.committed("g", "t", 0) === offset) {
      void consumer.stop();
    } else {
      stopAt({ clock, broker }, consumer, offset);
    }
  });
}

const orders = Array.from({ length: 10 }, (_, i) => `orders:${i}`);
const rows = orders.map((_value, i) => String(i));

describe("a sink", () => {
  test("gets the events of tables, and its checkpoint moves past the other records", async () => {
    const setup = brokerWith(["orders:0", "heartbeat", "orders:1", "heartbeat"]);
    const tables = new MemoryTables();
    const consumer = join(setup).to(tables.sink(setup.clock));
    stopAt(setup, consumer, 4n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(["0", "1"]);
    expect(tables.checkpoints.get(0)).toBe(4n);
  });

  test("goes on at its own checkpoint, whatever the group has committed, and applies nothing twice", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    tables.checkpoints.set(0, 6n);
    const consumer = join(setup).to(tables.sink(setup.clock));
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(["6", "7", "8", "9"]);
  });

  test("has its checkpoint committed if no record follows, so that the group shows no lag that does not exist", async () => {
    const setup = brokerWith(orders);
    setup.broker.commit({ groupId: "g", topic: "t", partition: 0, offset: 8n }); // of a member that was killed before its last commit
    const tables = new MemoryTables();
    tables.checkpoints.set(0, 10n);
    const consumer = join(setup).to(tables.sink(setup.clock));
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual([]);
    expect(setup.broker.committed("g", "t", 0)).toBe(10n);
  });

  test("beside handlers is named in the log if it misses records: the group was set forward, or its store has lost what it had", async () => {
    const setup = brokerWith(orders);
    setup.broker.commit({ groupId: "g", topic: "t", partition: 0, offset: 8n });
    const [behind, level] = [new MemoryTables(), new MemoryTables()];
    behind.checkpoints.set(0, 6n);
    level.checkpoints.set(0, 8n);
    const warnings: unknown[] = [];
    const logger = { debug: () => {}, info: () => {}, error: () => {}, warn: (fields: object) => void warnings.push(fields) };
    const consumer = join(setup, { logger })
      .to(behind.sink(setup.clock, "behind"))
      .to(level.sink(setup.clock, "level"))
      .on("*", () => {});
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(behind.rows).toEqual(["8", "9"]);
    expect(warnings).toContainEqual({ sink: "behind", topic: "t", partition: 0, checkpoint: 6n, offset: 8n });
    expect(warnings).not.toContainEqual(expect.objectContaining({ sink: "level" }));
  });

  test("does not have its checkpoint committed if it is behind another sink without one: that sink starts at the group's commit", async () => {
    const setup = brokerWith(orders);
    setup.broker.commit({ groupId: "g", topic: "t", partition: 0, offset: 8n });
    const [old, fresh] = [new MemoryTables(), new MemoryTables()];
    old.checkpoints.set(0, 10n);
    fresh.failures = Array.from({ length: 1_000 }, () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
    const consumer = join(setup).to(old.sink(setup.clock, "old")).to(fresh.sink(setup.clock, "fresh"));
    setup.clock.after(5_000, () => void consumer.stop());
    await setup.clock.run(consumer.run());
    expect(setup.broker.committed("g", "t", 0)).toBe(8n);
  });

  test("takes the tables that it is attached to, in batches of its own", async () => {
    const setup = brokerWith([...orders, "items:a", "items:b", "items:c"]);
    const [first, second] = [new MemoryTables(), new MemoryTables()];
    const consumer = join(setup)
      .to(first.sink(setup.clock, "first"), { tables: ["s.orders"], batch: { maxEvents: 5, maxMs: 20 } })
      .to(second.sink(setup.clock, "second"), { tables: ["s.items"] });
    stopAt(setup, consumer, 13n);
    await setup.clock.run(consumer.run());
    expect(first.rows).toEqual(rows);
    expect(first.batches.slice(0, 2)).toEqual([5, 5]);
    expect(second.rows).toEqual(["a", "b", "c"]);
  });

  test("halts at a tombstone of which nothing says whose it is, with that reason", async () => {
    const setup = brokerWith(["orders:1", "items:2", "t:"]);
    const consumer = join(setup).to(new MemoryTables().sink(setup.clock), { tables: ["s.orders"] });
    await expect(setup.clock.run(consumer.run())).rejects.toMatchObject({ code: "table-unknown", at: { topic: "t", offset: 2n } });
  });

  test.each([true, false])(
    "takes its share of a record of 200,000 events in no time that grows with their square (strict: %s)",
    async (strict) => {
      const setup = brokerWith(["orders:0"]);
      const decoder: Decoder = {
        ...rowDecoder,
        decodeAt: ({ batch, record }: RecordCursor) => {
          const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
          const names = strict ? ["orders"] : ["orders", "items"];
          return Array.from({ length: 200_000 }, (_, i) => {
            const table = { schema: "s", name: names[i % names.length] };
            return { kind: "row", table, row: i, schemaId: null, record: ref } as unknown as CdcEvent;
          });
        },
      };
      let applied = 0;
      const sink: Sink = {
        name: "reads what is left out",
        readsLeftOut: true,
        claim: async () => [],
        apply: async ({ events, leftOut }) => {
          applied += events.length - (leftOut?.size ?? 0);
        },
        close: async () => {},
      };
      const consumer = join(setup, { decoder, strict }).to(sink, { tables: ["s.orders"] });
      stopAt(setup, consumer, 1n);
      const before = process.cpuUsage();
      await setup.clock.run(consumer.run());
      expect(process.cpuUsage(before).user / 1e3).toBeLessThan(10_000); // half a second; with their square, half a minute and more
      expect(applied).toBe(strict ? 200_000 : 100_000);
    },
  );

  test("that is slow does not hold up a fast one, and the commit waits for the slow one", async () => {
    const setup = brokerWith(orders);
    const [slow, fast] = [new MemoryTables(), new MemoryTables()];
    slow.delayMs = 10_000;
    const consumer = join(setup).to(slow.sink(setup.clock, "slow")).to(fast.sink(setup.clock, "fast"));
    let early: [number, bigint | null] | undefined;
    setup.clock.after(5_000, () => {
      early = [fast.rows.length, setup.broker.committed("g", "t", 0)];
    });
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(early).toEqual([10, null]);
    expect(slow.rows).toEqual(rows);
  });

  test("that is down is retried, and nothing is lost or applied twice", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    const down = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    tables.failures = [down, undefined, down, down];
    const consumer = join(setup).to(tables.sink(setup.clock));
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(rows);
  });

  test("that cannot reach its database for ten minutes waits for it, even to claim its partitions", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    const away = Object.assign(new Error("no connection"), { code: "unavailable", retriable: true });
    const sink = tables.sink(setup.clock);
    const whileUp = <T>(work: () => Promise<T>): Promise<T> => (setup.clock.nowMs() < upAgainMs ? Promise.reject(away) : work());
    let upAgainMs = setup.clock.nowMs() + 600_000;
    const consumer = join(setup).to({
      ...sink,
      claim: (group, assignments) => whileUp(() => sink.claim(group, assignments)),
      apply: async (batch) => {
        if (batch.nextOffset === 4n && upAgainMs < 1_100_000) {
          upAgainMs = setup.clock.nowMs() + 600_000;
        }
        await whileUp(() => sink.apply(batch));
      },
    });
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(rows);
    expect(setup.clock.nowMs()).toBeGreaterThanOrEqual(1_200_000);
  });

  test.each([
    { name: "refuses connections", error: { code: "ECONNREFUSED" } },
    { name: "answers with 503", error: { status: 503 } },
    { name: "is starting up", error: { cause: { code: "57P03" } } },
  ])("that $name uses up no attempt of a record, however long that lasts", async ({ error }) => {
    const setup = brokerWith(orders.slice(0, 1));
    const tables = new MemoryTables();
    const away = (): Error => Object.assign(new Error("away"), error);
    const unclear = (): Error => new Error("who knows");
    tables.failures = [...Array.from({ length: 40 }, away), unclear(), away(), unclear(), unclear(), unclear()];
    const consumer = join(setup, { failure: { poison: "dead-letter", deadLetterTopic: "dead" } }).to(tables.sink(setup.clock));
    let reasons: readonly string[] = [];
    setup.clock.after(60_000, () => {
      reasons = consumer.health().reasons;
    });
    stopAt(setup, consumer, 1n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(["0"]);
    expect(setup.broker.endOffset("dead", 0)).toBe(0n);
    expect(reasons.join()).toMatch(
      /^the sink "tables" at t\[0\]@0 is waited for since 2023-11-14T22:13:20.000Z \(60 s\): \d+ failed attempts/,
    );
  });

  test("that is down during a claim is waited for, too", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    const sink = tables.sink(setup.clock);
    let asked = 0;
    const refusing: Sink = {
      ...sink,
      claim: (groupId, assignments) =>
        asked++ < 20 ? Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })) : sink.claim(groupId, assignments),
    };
    const consumer = join(setup).to(refusing);
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(rows);
  });

  test("that refuses a row gets the rows before it, and halts the consumer at that row", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    tables.refuses = "2";
    const consumer = join(setup).to(tables.sink(setup.clock));
    const error: unknown = await setup.clock.run(consumer.run().catch((caught: unknown) => caught));
    expect(error).toMatchObject({ code: "sink-failed", at: { topic: "t", partition: 0, offset: 2n }, cause: { code: "23505" } });
    expect((error as Error).message).toContain('the sink "tables" failed at t[0]@2; ');
    expect(tables.rows).toEqual(["0", "1"]);
    expect([tables.checkpoints.get(0), setup.broker.committed("g", "t", 0)]).toEqual([2n, 2n]);
  });

  test("that refuses rows only together gets them one by one", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    const sink = tables.sink(setup.clock);
    const consumer = join(setup).to({
      ...sink,
      apply: async (batch) => {
        if (batch.events.length > 1) {
          throw Object.assign(new Error("two rows have swapped a unique value"), { code: "23505" });
        }
        await sink.apply(batch);
      },
    });
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(rows);
    expect(tables.checkpoints.get(0)).toBe(10n);
  });

  test("that halts the consumer for reasons outside of its rows is named, with all records that were handed on together", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    tables.failures = [Object.assign(new Error("no such login"), { code: "28P01" })];
    const consumer = join(setup).to(tables.sink(setup.clock));
    const error: unknown = await setup.clock.run(consumer.run().catch((caught: unknown) => caught));
    expect(error).toMatchObject({ code: "sink-failed", at: { topic: "t", partition: 0, offset: 0n }, cause: { code: "28P01" } });
    expect((error as Error).message).toBe(
      '[sink-failed] the sink "tables" failed at t[0]@0 to 3, which were handed on together; the cause says why, and none of them was committed',
    );
  });

  test.each([
    [Object.assign(new Error("[schema-mismatch] there is no table"), { code: "schema-mismatch" }), "[schema-mismatch] there is no table"],
    [Object.assign(new Error("row (7, a secret)"), { code: "28P01" }), "Error (28P01)"],
  ])("that halts the consumer is in health() with its cause, and without the words of a foreign error: %s", async (failure, shown) => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    tables.failures = Array.from({ length: 20 }, () => failure);
    const consumer = join(setup).to(tables.sink(setup.clock));
    await setup.clock.run(consumer.run().catch(() => {}));
    expect(consumer.health().reasons).toEqual([
      "stopped",
      expect.stringMatching(/^\[sink-failed\] .*; the cause says why, and .* committed: /),
    ]);
    expect(consumer.health().reasons[1]).toContain(`committed: ${shown}`);
  });

  test("that refuses a row gets the other rows, and the row is a dead letter", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    tables.refuses = "2";
    const consumer = join(setup, { failure: { poison: "dead-letter", deadLetterTopic: "dead" } }).to(tables.sink(setup.clock));
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(rows.filter((row) => row !== "2"));
    expect(tables.checkpoints.get(0)).toBe(10n);
    expect(setup.broker.read("dead", 0, 0n, 10).map(({ value }) => Buffer.from(value ?? []).toString())).toEqual(["orders:2"]);
  });

  test("moves past a dead letter that is acknowledged while its partition is given up, and does not hold up the drain", async () => {
    const broken: Decoder = {
      ...rowDecoder,
      decodeAt: (cursor) => {
        if (Buffer.from(cursor.valueBytes ?? []).toString() === "broken") {
          throw new DecodeError("malformed", "not decoded");
        }
        return rowDecoder.decodeAt(cursor);
      },
    };
    for (const hasHandlers of [false, true]) {
      const setup = brokerWith(["orders:0", "broken", "orders:1"]);
      const tables = new MemoryTables();
      setup.broker.faults.inject({ on: "send", how: { lateMs: 100 } });
      const failure = { poison: "dead-letter", deadLetterTopic: "dead" } as const;
      const consumer = join(setup, { failure, decoder: broken }).to(tables.sink(setup.clock));
      if (hasHandlers) {
        consumer.on("*", () => {});
      }
      setup.clock.after(50, () => void consumer.stop());
      await setup.clock.run(consumer.run());
      expect(setup.clock.nowMs()).toBeLessThan(1_000);
      expect(setup.broker.endOffset("dead", 0)).toBe(1n);
      expect([tables.checkpoints.get(0), setup.broker.committed("g", "t", 0)]).toEqual([2n, 2n]);
    }
  });

  test("that says it is fenced gets nothing more of the partition, and nothing of it is committed", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    const consumer = join(setup).to(tables.sink(setup.clock));
    setup.clock.after(1, () => tables.owners.set(0, {}));
    tables.delayMs = 5;
    const running = consumer.run();
    let [reasons, isReady, isLive]: [readonly string[], boolean, boolean] = [[], true, false];
    setup.clock.after(60_000, () => {
      ({ reasons, ready: isReady, live: isLive } = consumer.health());
      void consumer.stop();
    });
    await setup.clock.run(running);
    expect(tables.rows).toEqual([]);
    expect(setup.broker.commits).toEqual([]);
    expect(reasons).toContainEqual(expect.stringContaining("belongs to another member"));
    expect(reasons).toContainEqual(expect.stringMatching(/^the revocation of t\[0\] by the group is waited for since/));
    expect([isReady, isLive]).toEqual([false, true]);
  });

  test.each([true, false])(
    "that says it is fenced takes no more batches of the partition into memory: awaitsRevoked %s",
    async (awaitsRevoked) => {
      const setup = brokerWith(
        Array.from({ length: 100 }, (_, i) => `orders:${i}`),
        2,
      );
      const tables = new MemoryTables();
      const inner = memory({ broker: setup.broker, maxBatchRecords: 4 });
      let handedOver = 0;
      const driver: KafkaDriver = {
        name: "counting",
        capabilities: { ...inner.capabilities, awaitsRevoked },
        connect: (subscription, sink) =>
          inner.connect(subscription, {
            assigned: (assignments) => sink.assigned(assignments),
            revoked: (assignments, how) => sink.revoked(assignments, how),
            batch: (batch) => {
              handedOver += batch.partition === 0 ? 1 : 0;
              return sink.batch(batch);
            },
            failed: (error) => sink.failed(error),
          }),
      };
      const consumer = join(setup, { driver, delivery: { maxInFlight: 2 } }).to(tables.sink(setup.clock));
      setup.clock.after(1, () => tables.owners.set(0, {}));
      tables.delayMs = 5;
      setup.clock.after(60_000, () => void setup.broker.group("g").expire());
      setup.clock.after(61_000, () => void consumer.stop());
      let handedOverWhileFenced = 0;
      setup.clock.after(59_999, () => {
        handedOverWhileFenced = handedOver;
      });
      await setup.clock.run(consumer.run());
      // Those in memory when the sink said so, and the one that the driver was about to hand over.
      expect(handedOverWhileFenced).toBeLessThanOrEqual(3);
      expect(tables.rows).toHaveLength(100); // after the partition was given out again
    },
  );

  test("that says it is fenced holds up no other partition, because its batches leave memory", async () => {
    const setup = brokerWith(orders, 2);
    const tables = new MemoryTables();
    const consumer = join(setup, { delivery: { maxInFlightBytes: 1 } }).to(tables.sink(setup.clock));
    setup.clock.after(1, () => tables.owners.set(0, {}));
    tables.delayMs = 5;
    let reasons: readonly string[] = [];
    let isLive = false;
    setup.clock.after(120_000, () => {
      ({ reasons, live: isLive } = consumer.health());
      void consumer.stop();
    });
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(orders.map((order) => order.slice("orders:".length)).filter((row) => Number(row) % 2 === 1));
    expect(reasons).toContainEqual(expect.stringContaining("t[0] belongs to another member"));
    expect(isLive).toBe(true);
  });

  test("beside handlers has its records committed after both have handled them", async () => {
    const setup = brokerWith(orders);
    const tables = new MemoryTables();
    const handled: string[] = [];
    const consumer = join(setup)
      .to(tables.sink(setup.clock))
      .on("*", (event) => void handled.push((event as unknown as { row: string }).row));
    stopAt(setup, consumer, 10n);
    await setup.clock.run(consumer.run());
    expect([tables.rows, handled]).toEqual([rows, rows]);
  });

  test("applies each row once, whatever members come, go and expire", async () => {
    const values = Array.from({ length: 200 }, (_, i) => `orders:${i}`);
    const setup = brokerWith(values, 4);
    const tables = new MemoryTables();
    tables.delayMs = 3;
    const members: Consumer[] = [];
    const running: Promise<void>[] = [];
    const enter = (): void => {
      const consumer = join(setup).to(tables.sink(setup.clock));
      members.push(consumer);
      running.push(consumer.run());
    };
    enter();
    for (const [atMs, what] of [
      [5, enter],
      [12, () => void setup.broker.group("g").expire()],
      [20, enter],
      [30, () => void members.shift()?.stop()],
      [40, () => void setup.broker.group("g").expire()],
    ] as const) {
      setup.clock.after(atMs, what);
    }
    const watch = (): void =>
      void setup.clock.after(10, () => (tables.rows.length < 200 ? watch() : members.forEach((member) => void member.stop())));
    watch();
    await setup.clock.run(Promise.all(running).then(() => Promise.all(running)));
    expect([...tables.rows].sort((a, b) => Number(a) - Number(b))).toEqual(values.map((_value, i) => String(i)));
  });

  test("is not claimed after its partition was given up, because a late claim would fence the next owner off", async () => {
    const setup = brokerWith(orders, 2);
    const tables = new MemoryTables();
    const slow = (delayMs: number): Sink => {
      const sink = tables.sink(setup.clock);
      return {
        ...sink,
        claim: async (groupId, assignments) => {
          await new Promise<void>((resolve) => void setup.clock.after(delayMs, resolve));
          return sink.claim(groupId, assignments);
        },
      };
    };
    const first = join(setup).to(slow(50));
    const second = join(setup).to(slow(1));
    const running = [first.run()];
    setup.clock.after(10, () => running.push(second.run()));
    setup.clock.after(5_000, () => [first, second].forEach((member) => void member.stop()));
    await setup.clock.run(Promise.all(running).then(() => Promise.all(running)));
    expect(tables.rows.toSorted()).toEqual(rows);
  });

  test.each([[[]], ["orders"], [[7]], [null]])("for the tables %j is refused, because it would take nothing", (tables) => {
    const setup = brokerWith([]);
    const attach = (): unknown => join(setup).to(new MemoryTables().sink(setup.clock), { tables: tables as never });
    expect(attach).toThrow("[invalid-option] to() tables must be an array of at least one pattern of tables");
  });

  test("with batches that wait longer than Node's timers can is refused", () => {
    const setup = brokerWith([]);
    const attach = (): unknown => join(setup).to(new MemoryTables().sink(setup.clock), { batch: { maxMs: 2 ** 31 } });
    expect(attach).toThrow("to() batch.maxMs must be milliseconds from 1 to 2147483647");
  });

  test("without its methods, or with the name of another sink, is refused", () => {
    const setup = brokerWith([]);
    const tables = new MemoryTables();
    expect(() => join(setup).to({} as Sink)).toThrow("found an object without name, claim, apply, close");
    const { close: _close, ...open } = tables.sink(setup.clock);
    expect(() => join(setup).to(open as Sink)).toThrow(
      "[invalid-sink] to() expects a sink: an object with a name, and the methods claim, apply and close; found an object without close",
    );
    const consumer = join(setup).to(tables.sink(setup.clock));
    expect(() => consumer.to(tables.sink(setup.clock))).toThrow("[invalid-sink]");
    expect(() => consumer.to(tables.sink(setup.clock, "b"), { batch: { maxEvents: 0 } })).toThrow("maxEvents");
  });

  test("that cannot claim its partitions halts the consumer after all attempts", async () => {
    const setup = brokerWith(orders);
    const cause = new Error("no such table");
    const sink: Sink = { ...new MemoryTables().sink(setup.clock), claim: () => Promise.reject(cause) };
    const consumer = join(setup).to(sink);
    const message = expect.stringMatching(/the sink "[^"]+" could not claim/); // as every other text writes it
    await expect(setup.clock.run(consumer.run())).rejects.toMatchObject({ code: "sink-failed", cause, message });
  });
});

describe("a consumer without handlers", () => {
  test("counts the events that sinks applied and those that none took, but not those of dead letters", async () => {
    const setup = brokerWith(["orders:0", "orders:1", "heartbeat:2", "other:3", "orders:4"]);
    const tables = new MemoryTables();
    tables.refuses = "1";
    const consumer = join(setup, { failure: { poison: "dead-letter", deadLetterTopic: "dead" } });
    consumer.to(tables.sink(setup.clock), { tables: ["s.orders"] });
    stopAt(setup, consumer, 5n);
    await setup.clock.run(consumer.run());
    expect(tables.rows).toEqual(["0", "4"]);
    expect(consumer.health().counts).toMatchObject({
      records: 5,
      events: 5,
      handled: 2,
      filtered: { "table-without-handler": 1, "control-event-without-handler": 1 },
      deadLettered: 1,
    });
  });
});
