import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type CdcEvent, DecodeError } from "@cdckit/decode";
import { MemoryBroker, type MemoryMember, memory, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { Health } from "./observe/health.ts";
import type { ConsumerOptions } from "./options.ts";
import type { Sink } from "./sink.ts";

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly consumer: Consumer;
}

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });

function setUp(options: Partial<ConsumerOptions> = {}, values: readonly (string | Uint8Array)[] = ['{"id":1}', '{"id":2}']): Setup {
  const clock = virtualClock();
  const broker = new MemoryBroker({ rows: 1, dead: 1 }, { clock });
  broker.append("rows", ...values.map((value) => ({ value })));
  const driver = memory({ broker });
  return { clock, broker, consumer: createConsumer({ driver, groupId: "g", topics: ["rows"], signals: false, clock, ...options }) };
}

function sinkOf(parts: Partial<Sink>): Sink {
  return { name: "copy", host: "db:5432/shop", claim: async () => [], apply: async () => {}, close: async () => {}, ...parts };
}

/** What health says, four times a second for this long. */
async function watch({ clock, consumer }: Setup, forMs: number): Promise<readonly { readonly atMs: number; readonly health: Health }[]> {
  const looks: { readonly atMs: number; readonly health: Health }[] = [];
  const startMs = clock.nowMs();
  while (clock.nowMs() - startMs < forMs) {
    await clock.advance(250);
    looks.push({ atMs: clock.nowMs() - startMs, health: consumer.health() });
  }
  return looks;
}

/** A stall of 100 s: every look from 5 s on has the reason, from 41 s on the consumer is not ready, and a restart would not help. */
async function expectTruth(setup: Setup, reason: RegExp, isRunning = true): Promise<void> {
  const looks = await watch(setup, 100_000);
  for (const { atMs, health } of looks) {
    if (atMs >= 5_000) {
      expect(health.reasons, `${atMs} ms`).toContainEqual(expect.stringMatching(reason));
    }
    expect(health.live, `${atMs} ms`).toBe(true);
  }
  if (isRunning) {
    expect(looks.filter(({ atMs, health }) => atMs >= 2_000 && atMs < 40_000 && !health.ready)).toEqual([]);
  }
  expect(looks.filter(({ atMs, health }) => atMs >= 42_000 && health.ready)).toEqual([]);
}

/** Records get dead letters, which the brokers never answer for. */
function setUpDeadLetter(decodeAt: () => readonly CdcEvent[] | Promise<never>, options: Partial<ConsumerOptions>): Setup {
  const notUsed = (): Promise<never> => Promise.reject(new Error("not used"));
  const decoder = { decode: notUsed, explain: notUsed, decodeAt };
  const setup = setUp({ decoder, failure: { poison: "dead-letter", deadLetterTopic: "dead" }, ...options });
  setup.broker.faults.inject({ on: "send", how: "hangs", times: Number.POSITIVE_INFINITY });
  return setup;
}

async function expectDeadLetterAlone(setup: Setup, running: Promise<unknown>): Promise<void> {
  running.catch(() => {});
  const looks = await watch(setup, 60_000);
  expect(looks.at(-1)?.health.reasons).toEqual([expect.stringMatching(/^the dead-letter topic dead at rows\[0\]@0 is waited for/)]);
  await stop(setup, running);
}

async function stop({ clock, consumer }: Setup, running: Promise<unknown>): Promise<void> {
  const ended = Promise.allSettled([consumer.stop(), running]);
  await clock.advance(60_000);
  await ended;
}

async function stall(setup: Setup, reason: RegExp): Promise<void> {
  const running = setup.consumer.run();
  running.catch(() => {});
  await expectTruth(setup, reason);
  await stop(setup, running);
}

describe("health during a stall", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  test("names a sink that does not answer, its host and the record", async () => {
    const setup = setUp();
    setup.consumer.to(sinkOf({ apply: () => new Promise(() => {}) }));
    await stall(setup, /^the sink "copy" \(db:5432\/shop\) at rows\[0\]@0 is waited for since \S+ \(\d+ s\): no answer yet$/);
  });

  test("names a sink that refuses, even between the attempts", async () => {
    const setup = setUp();
    setup.consumer.to(sinkOf({ apply: () => Promise.reject(refused) }));
    await stall(
      setup,
      /^the sink "copy" \(db:5432\/shop\) at rows\[0\]@0 is waited for .* the last: connect ECONNREFUSED 127\.0\.0\.1:5432$/,
    );
  });

  test("goes on counting if a sink hangs first and refuses after that", async () => {
    const setup = setUp();
    const { clock } = setup;
    setup.consumer.to(sinkOf({ apply: () => new Promise((_, reject) => void clock.after(15_000, () => reject(refused))) }));
    await stall(setup, /^the sink "copy" \(db:5432\/shop\) at rows\[0\]@0 is waited for/);
  });

  test("names a sink that cannot claim its partitions", async () => {
    const setup = setUp();
    setup.consumer.to(sinkOf({ claim: () => Promise.reject(refused) }));
    await stall(setup, /^the claim of partitions by the sink "copy" \(db:5432\/shop\) at rows\[0\] is waited for .* ECONNREFUSED/);
  });

  test("names a registry that accepts and never answers, even before the first time-out", async () => {
    server = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => server?.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clock = virtualClock();
    const broker = new MemoryBroker({ rows: 1 }, { clock });
    broker.append("rows", { value: new Uint8Array([0, 0, 0, 0, 7, 2]) });
    const registry = { url, clock };
    const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["rows"], signals: false, clock, registry });
    consumer.on("*", () => {});
    await stall({ clock, broker, consumer }, new RegExp(`^schema 7 \\(${url}\\) is waited for since`));
  });

  test.each([1, 8])(
    "names no handler while the dead letter of a record whose second event it refused is written: %i",
    async (concurrency) => {
      const decodeAt = (): readonly CdcEvent[] => [1, 2].map((id) => ({ kind: "heartbeat", id }) as unknown as CdcEvent);
      const setup = setUpDeadLetter(decodeAt, { delivery: { concurrency } });
      setup.consumer.on("*", (event) => {
        if ((event as unknown as { readonly id: number }).id === 2) {
          throw new TypeError("refused");
        }
      });
      await expectDeadLetterAlone(setup, setup.consumer.run());
    },
  );

  test.each([1, 8, "stream"] as const)(
    "names no decoding while the dead letter of what did not decode is written, at concurrency %s",
    async (reads) => {
      const decodeAt = (): Promise<never> => Promise.reject(new DecodeError("malformed", "no row"));
      const setup = setUpDeadLetter(decodeAt, reads === "stream" ? {} : { delivery: { concurrency: reads } });
      await expectDeadLetterAlone(setup, reads === "stream" ? setup.consumer.stream().next() : setup.consumer.on("*", () => {}).run());
    },
  );

  test("names a dead-letter topic that does not take the letter", async () => {
    const setup = setUp({ failure: { poison: "dead-letter", deadLetterTopic: "dead" } }, ["{", '{"id":2}']);
    setup.broker.faults.inject({ on: "send", how: "hangs" });
    setup.consumer.on("*", () => {});
    await stall(setup, /^the dead-letter topic dead at rows\[0\]@0 is waited for/);
  });

  test("names commits that do not succeed", async () => {
    const setup = setUp();
    setup.broker.faults.inject({ on: "commit", how: "fails", times: Number.POSITIVE_INFINITY });
    setup.consumer.on("*", () => {});
    await stall(setup, /^a commit of the group g is waited for/);
  });

  test.each([1, 8])("names the record of a handler that never ends, at concurrency %i", async (concurrency) => {
    const setup = setUp({ delivery: { concurrency } });
    setup.consumer.on("*", ({ record }) => (record.offset === 1n ? new Promise(() => {}) : undefined));
    await stall(setup, /^a handler at rows\[0\]@1 is waited for since \S+ \(\d+ s\): no answer yet$/);
  });

  test("names the record of a handler that is retried, even at concurrency 8", async () => {
    const retry = { attempts: 1_000, jitter: "none" } as const;
    const setup = setUp({ delivery: { concurrency: 8 }, failure: { retry } });
    setup.consumer.on("*", () => {
      throw refused;
    });
    await stall(setup, /^a handler at rows\[0\]@0 is waited for .* ECONNREFUSED/);
  });

  test("names the record whose done() a stream waits for", async () => {
    const setup = setUp();
    const reading = (async () => {
      for await (const _ of setup.consumer.stream()) {
        // never done
      }
    })();
    await expectTruth(setup, /^done\(\) of what was handed out at rows\[0\]@0 is waited for/);
    await stop(setup, reading);
  });

  test("names the record that a stream's loop does not come back for, although everything that it took is done", async () => {
    const setup = setUp();
    let goOn = (): void => {};
    const reading = (async () => {
      for await (const { done } of setup.consumer.stream()) {
        done();
        await new Promise<void>((resolve) => (goOn = resolve));
      }
    })();
    await expectTruth(setup, /^the next read of the stream at rows\[0\]@1 is waited for since \S+ \(\d+ s\): no answer yet$/);
    const ended = stop(setup, reading);
    goOn();
    await ended;
  });

  test("names the driver that has not joined", async () => {
    const setup = setUp();
    setup.broker.faults.inject({ on: "connect", how: "hangs" });
    setup.consumer.on("*", () => {});
    const running = setup.consumer.run();
    await expectTruth(setup, /^the memory driver, which joins the group g, is waited for/, false);
    await stop(setup, running);
  });

  test("does not go on naming a commit that failed after its partitions have gone to another member", async () => {
    const setup = setUp();
    const { clock, broker, consumer } = setup;
    const heal = broker.faults.inject({ on: "commit", how: "fails", times: Number.POSITIVE_INFINITY });
    consumer.on("*", () => {});
    const running = consumer.run();
    await clock.advance(3_000);
    expect(consumer.health().reasons).toContainEqual(expect.stringMatching(/^a commit of the group g is waited for/));
    const group = broker.group("g");
    const [member] = group.members;
    const next = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["rows"], signals: false, clock });
    next.on("*", () => {});
    const nextRunning = next.run();
    await clock.advance(100);
    const readmit = group.evict(member as MemoryMember);
    heal();
    await clock.advance(2_000);
    void readmit();
    await clock.advance(60_000);
    expect(broker.committed("g", "rows", 0)).toBe(2n);
    expect(consumer.health()).toMatchObject({ assigned: [], ready: true, live: true, waits: [], reasons: ["no partition is assigned"] });
    void next.stop();
    await stop(setup, Promise.all([running, nextRunning]));
  });

  test("is ready again when the wait is over, and does not mention what goes well", async () => {
    const setup = setUp();
    let isAway = true;
    setup.consumer.to(sinkOf({ apply: () => (isAway ? Promise.reject(refused) : Promise.resolve()) }));
    const running = setup.consumer.run();
    await setup.clock.advance(60_000);
    expect(setup.consumer.health()).toMatchObject({
      ready: false,
      waits: [{ what: 'the sink "copy"', host: "db:5432/shop", place: "rows[0]@0" }],
    });
    isAway = false;
    await setup.clock.advance(20_000);
    expect(setup.consumer.health()).toMatchObject({ ready: true, live: true, reasons: [], waits: [] });
    await stop(setup, running);
    expect(setup.consumer.health().waits).toEqual([]);
  });
});
