import { type CdcEvent, DecodeError, type Decoder, type RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import { deadLetterOf } from "./failure/dead-letter-origin.ts";
import type { ConsumerOptions } from "./options.ts";
import type { Sink } from "./sink.ts";

/** Decodes every record to one event. Words that begin with "broken" do not decode; "outage" and "unknown" fail so often before they do. */
class WordDecoder implements Decoder {
  readonly #failures = new Map<string, number>();

  decode(): never {
    throw new Error("not used");
  }

  decodeAt({ batch, record, valueBytes }: RecordCursor): CdcEvent[] | Promise<CdcEvent[]> {
    const word = Buffer.from(valueBytes ?? []).toString();
    const offset = batch.offsetAt(record);
    const [kind, times = "0"] = word.split(":");
    if (kind === "broken") {
      throw new DecodeError("malformed", "not a word");
    }
    const place = `${batch.partition}:${offset}`;
    const failed = this.#failures.get(place) ?? 0;
    if ((kind === "outage" || kind === "unknown") && failed < Number(times)) {
      this.#failures.set(place, failed + 1);
      return Promise.reject(new DecodeError(kind === "outage" ? "schema-unavailable" : "schema-not-found", "no schema"));
    }
    const ref = { topic: batch.topic, partition: batch.partition, offset };
    return [{ kind: "change", op: "create", table: { schema: "s", name: "t" }, word, schemaId: null, record: ref } as unknown as CdcEvent];
  }

  explain(): never {
    throw new Error("not used");
  }
}

function wordOf(event: CdcEvent): string {
  return (event as unknown as { word: string }).word; // as the decoder above makes it
}

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly consumer: Consumer;
}

interface SetupOptions extends Partial<ConsumerOptions> {
  readonly maxBatchRecords?: number;
}

function setUp(records: readonly (string | readonly [key: string, value: string])[], options: SetupOptions = {}): Setup {
  const { maxBatchRecords = 4, ...rest } = options;
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1, dead: 1 }, { clock });
  broker.append("t", ...records.map((record) => (typeof record === "string" ? { value: record } : { key: record[0], value: record[1] })));
  const consumer = createConsumer({
    driver: memory({ broker, maxBatchRecords }),
    groupId: "g",
    topics: ["t"],
    decoder: new WordDecoder(),
    signals: false,
    clock,
    random: () => 0.5,
    ...rest,
  });
  return { clock, broker, consumer };
}

const deadLetters = { poison: "dead-letter", deadLetterTopic: "dead", breaker: false } as const;

/** Calls `handle` for every event, and stops the consumer when all of them are handled or dead letters. */
async function runToTheEnd(
  { clock, broker, consumer }: Setup,
  handle: (word: string, event: CdcEvent) => void | Promise<void>,
): Promise<void> {
  consumer.on("*", (event) => handle((event as unknown as { word: string }).word, event));
  const running = consumer.run();
  const watch = (): void =>
    void clock.after(50, () => {
      if (broker.committed("g", "t", 0) === broker.endOffset("t", 0)) {
        void consumer.stop();
      } else {
        watch();
      }
    });
  watch();
  await clock.run(running);
}

function deadWords(broker: MemoryBroker): string[] {
  return broker.read("dead", 0, 0n, 1_000).map(({ value }) => Buffer.from(value ?? []).toString());
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => new Error("it did not fail"),
    (error: Error) => error,
  );
}

describe("retry", () => {
  test("a record is retried in its place, and nothing overtakes it", async () => {
    for (const how of ["throws", "rejects"]) {
      const setup = setUp(["a", "b", "c"]);
      const seen: string[] = [];
      await runToTheEnd(setup, (word) => {
        seen.push(word);
        if (word === "b" && seen.length < 5) {
          if (how === "throws") {
            throw new Error("not yet");
          }
          return Promise.reject(new Error("not yet"));
        }
        return undefined;
      });
      expect(seen).toEqual(["a", "b", "b", "b", "b", "c"]);
      expect(setup.consumer.health().counts).toMatchObject({ handled: 3, events: 3, records: 3, retries: 3 });
      // Half of 100, 200 and 400 ms.
      expect(setup.clock.nowMs()).toBeGreaterThanOrEqual(350);
    }
  });

  test.each([1, 8])("an attempt that fails is no progress: concurrency %i", async (concurrency) => {
    const retry = { attempts: 4, initialDelayMs: 1_000, jitter: "none" } as const;
    const { clock, consumer } = setUp(["a"], { delivery: { concurrency }, failure: { retry } });
    consumer.on("*", async () => {
      throw new Error("not yet");
    });
    const running = consumer.run().catch(() => {});
    await clock.advance(500);
    const { lastProgressAt, counts } = consumer.health();
    await clock.advance(3_000);
    expect(consumer.health().counts.retries).toBeGreaterThan(counts.retries);
    expect(consumer.health()).toMatchObject({ phase: "running", lastProgressAt });
    await clock.advance(60_000);
    await running;
  });

  test("after all attempts the consumer halts before the record", async () => {
    const setup = setUp(["a", "b", "c"], { failure: { retry: { attempts: 3 } } });
    let tried = 0;
    const error = await failureOf(
      runToTheEnd(setup, (word) => {
        if (word === "b") {
          tried++;
          throw new Error("never");
        }
      }),
    );
    expect(error).toMatchObject({ code: "handler-failed", at: { offset: 1n } });
    expect(tried).toBe(3);
    expect(setup.broker.committed("g", "t", 0)).toBe(1n);
  });

  test.each([undefined, null])("what throws %s has no cause that could say why, and the message says so", async (nothing) => {
    const setup = setUp(["a"], { failure: { retry: false } });
    const error = await failureOf(
      runToTheEnd(setup, () => Promise.reject(nothing as unknown as Error)), // as JavaScript may
    );
    expect(error.message).toBe(
      `[handler-failed] a handler failed at t[0]@0; it threw ${String(nothing)}, which does not say why, and the record was not committed`,
    );
  });

  test("a programming mistake is not retried", async () => {
    const setup = setUp(["a"]);
    let tried = 0;
    const error = await failureOf(
      runToTheEnd(setup, () => {
        tried++;
        throw new TypeError("x is not a function");
      }),
    );
    expect(error).toMatchObject({ code: "handler-failed" });
    expect(tried).toBe(1);
  });

  test("a stop does not wait for the next attempt", async () => {
    const setup = setUp(["a", "b"], {
      failure: { retry: { attempts: 100, initialDelayMs: 500_000, maxDelayMs: 500_000, jitter: "none" } },
    });
    const { clock, consumer, broker } = setup;
    const running = runToTheEnd(setup, (word) => {
      if (word === "b") {
        clock.after(10, () => void consumer.stop());
        throw new Error("no");
      }
    });
    await running;
    expect(clock.nowMs()).toBeLessThan(1_000);
    expect(broker.committed("g", "t", 0)).toBe(1n);
  });

  test("a batch that fails is retried as a whole", async () => {
    const setup = setUp(["a", "b", "c"]);
    const { clock, consumer, broker } = setup;
    const seen: number[] = [];
    consumer.on("s.t", {
      batch: (events) => {
        seen.push(events.length);
        if (seen.length === 1) {
          throw new Error("not yet");
        }
        void consumer.stop();
      },
    });
    await clock.run(consumer.run());
    expect(seen).toEqual([3, 3]);
    expect(broker.committed("g", "t", 0)).toBe(3n);
  });

  describe.each([
    { how: "what one fetch brought", delivery: {} },
    { how: "so many events", delivery: { batch: { maxEvents: 4 } } },
    { how: "several in flight", delivery: { maxInFlight: 8 } },
  ])("a batch of $how", ({ delivery }) => {
    /** Runs to the end of the records, or until the consumer halts. */
    async function runOf(words: readonly string[], apply: (words: readonly string[]) => void, failure: ConsumerOptions["failure"] = {}) {
      const { clock, consumer, broker } = setUp(words, { failure: { retry: false, ...failure }, delivery });
      const handed: string[] = [];
      consumer.on("s.t", {
        batch: async (events) => {
          const together = events.map(wordOf);
          handed.push(together.join("+"));
          apply(together);
          if (together.at(-1) === words.at(-1)) {
            void consumer.stop();
          }
        },
      });
      const error: unknown = await clock.run(
        consumer.run().then(
          () => null,
          (caught: unknown) => caught,
        ),
      );
      return { error: error as Error | null, handed, committed: broker.committed("g", "t", 0) ?? 0n };
    }

    const refusing =
      (refused: (words: readonly string[]) => boolean, error: Error = new TypeError("no")) =>
      (words: readonly string[]): void => {
        if (refused(words)) {
          throw error;
        }
      };

    test("is whole again at the next attempt, and counts as it was handed over, if its handler takes the events out of its array", async () => {
      const { clock, consumer, broker } = setUp(["a", "b", "c"], { failure: { retry: { attempts: 2 } }, delivery });
      const handed: string[] = [];
      consumer.on("s.t", {
        batch: (events) => {
          const left = events as CdcEvent[];
          handed.push(left.splice(0, 2).map(wordOf).join("+"));
          if (handed.length === 1) {
            throw Object.assign(new Error("not yet"), { code: "ECONNRESET" });
          }
          handed.push(left.splice(0).map(wordOf).join("+"));
          void consumer.stop();
        },
      });
      await clock.run(consumer.run());
      expect(handed).toEqual(["a+b", "a+b", "c"]);
      expect(consumer.health().counts.handled).toBe(3);
      expect(broker.committed("g", "t", 0)).toBe(3n);
    });

    test("that fails only together is handled one by one", async () => {
      for (const error of [new TypeError("no"), new Error("who knows"), Object.assign(new Error("duplicate key"), { code: "23505" })]) {
        const {
          handed,
          committed,
          error: halted,
        } = await runOf(
          ["a", "b", "c"],
          refusing(({ length }) => length > 1, error),
        );
        expect(halted).toBeNull();
        expect(handed).toEqual(["a+b+c", "a", "b", "c"]);
        expect(committed).toBe(3n);
      }
    });

    test("of which one record fails alone halts the consumer at that record, and commits what is before it", async () => {
      const { error, handed, committed } = await runOf(
        ["a", "b", "bad", "c"],
        refusing((words) => words.includes("bad")),
      );
      expect(error).toMatchObject({ code: "handler-failed", at: { topic: "t", partition: 0, offset: 2n } });
      expect(error?.message).toContain("a handler failed at t[0]@2; ");
      expect(handed).toEqual(["a+b+bad+c", "a", "b", "bad"]);
      expect(committed).toBe(2n);
    });

    test("is retried as a whole before it is handled one by one, and so is each record", async () => {
      const retry = { attempts: 2 };
      const { error, handed } = await runOf(
        ["a", "bad"],
        refusing((words) => words.includes("bad"), new Error("who knows")),
        { retry },
      );
      expect(error).toMatchObject({ at: { offset: 1n } });
      expect(handed).toEqual(["a+bad", "a+bad", "a", "bad", "bad"]);
    });

    test("that fails for reasons outside of its records halts the consumer, and all of them are named", async () => {
      for (const code of ["40P01", "ECONNREFUSED", "28P01"]) {
        const { error, handed, committed } = await runOf(
          ["a", "b", "c"],
          refusing(() => true, Object.assign(new Error("no"), { code })),
        );
        expect(error).toMatchObject({ code: "handler-failed", at: { topic: "t", partition: 0, offset: 0n } });
        expect(error?.message).toContain("a handler failed at t[0]@0 to 2, which were handed on together; ");
        expect(handed).toEqual(["a+b+c"]);
        expect(committed).toBe(0n);
      }
    });
  });
});

describe("dead letters", () => {
  test("a record that does not decode or cannot be handled is written with its bytes, and the others go on", async () => {
    const setup = setUp(["a", "broken", "b", "bad", "c"], { failure: deadLetters });
    const seen: string[] = [];
    await runToTheEnd(setup, (word) => {
      if (word === "bad") {
        throw new Error("no");
      }
      seen.push(word);
    });
    expect(seen).toEqual(["a", "b", "c"]);
    expect(deadWords(setup.broker)).toEqual(["broken", "bad"]);
    const origins = setup.broker.read("dead", 0, 0n, 10).map((record) => deadLetterOf(record));
    expect(origins).toMatchObject([
      { topic: "t", partition: 0, offset: 1n, stage: "VALUE_CONVERTER", attempts: 1, groupId: "g" },
      { topic: "t", partition: 0, offset: 3n, stage: "TASK_PUT", attempts: 5, groupId: "g" },
    ]);
    expect(setup.consumer.health().counts).toMatchObject({ records: 5, handled: 3, deadLettered: 2 });
  });

  test("the log says why a record became a dead letter: the stage, the code and the error", async () => {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const keep = (fields: Readonly<Record<string, unknown>>, message: string): void =>
      void (message === "a record became a dead letter" && lines.push(fields));
    const logger = { debug: keep, info: keep, warn: keep, error: keep };
    const setup = setUp(["broken", "bad"], { failure: deadLetters, logger });
    await runToTheEnd(setup, () => {
      throw new TypeError("not a function");
    });
    const message = "[handler-failed] a handler failed at t[0]@1; the record became a dead letter";
    expect(lines).toMatchObject([
      { offset: 0n, reason: "failed", stage: "decode", code: "malformed", attempts: 1, err: { message: "[malformed] t[0]@0: not a word" } },
      {
        offset: 1n,
        reason: "failed",
        stage: "handle",
        code: "handler-failed",
        attempts: 1,
        err: { code: "handler-failed", message, cause: { type: "TypeError", message: "not a function" } },
      },
    ]);
  });

  test("the log says of a handler that failed which attempt that was, of how many, and names assignments without an @", async () => {
    const lines: string[] = [];
    const keep = (fields: Readonly<Record<string, unknown>>, message: string): void =>
      void lines.push(message, ...((fields["partitions"] as readonly string[] | undefined) ?? []));
    const retry = { attempts: 3, initialDelayMs: 200, jitter: "none" } as const;
    const setup = setUp(["bad"], { failure: { ...deadLetters, retry }, logger: { debug: keep, info: keep, warn: keep, error: keep } });
    await runToTheEnd(setup, () => {
      throw new Error("no");
    });
    expect(lines).toContain("a handler at t[0]@0 failed and is retried: attempt 1 of 3 failed, and the next follows after 200 ms");
    expect(lines).not.toContain("a handler at t[0]@0 is waited for");
    expect(lines).toContain("t[0] (epoch 1)");
  });

  test("of a batch that fails, only the record to blame becomes a dead letter", async () => {
    const setup = setUp(["a", "bad", "b"], { failure: { ...deadLetters, retry: false } });
    const { clock, consumer, broker } = setup;
    const seen: string[] = [];
    consumer.on("s.t", {
      batch: (events) => {
        const words = events.map((event) => (event as unknown as { word: string }).word);
        if (words.includes("bad")) {
          throw new Error("no");
        }
        seen.push(...words);
        if (seen.includes("b")) {
          void consumer.stop();
        }
      },
    });
    await clock.run(consumer.run());
    expect(seen).toEqual(["a", "b"]);
    expect(deadWords(broker)).toEqual(["bad"]);
    expect(broker.committed("g", "t", 0)).toBe(3n);
  });

  test("the offset does not move before the dead letter is acknowledged", async () => {
    const setup = setUp(["a", "broken", "b"], { failure: deadLetters });
    setup.broker.faults.inject({ on: "send", how: { lateMs: 5_000 } });
    const commits: (bigint | null)[] = [];
    setup.clock.after(4_000, () => commits.push(setup.broker.committed("g", "t", 0)));
    await runToTheEnd(setup, () => {});
    expect(commits).toEqual([1n]);
    expect(setup.broker.committed("g", "t", 0)).toBe(3n);
  });

  test("a dead letter that cannot be written after its own attempts halts the consumer before its record", async () => {
    const setup = setUp(["a", "broken", "b"], { failure: { ...deadLetters, retry: { attempts: 3 } } });
    setup.broker.faults.inject({ on: "send", how: "fails", times: 3 });
    const error = await failureOf(runToTheEnd(setup, () => {}));
    expect(error).toMatchObject({ code: "dead-letter-failed", at: { offset: 1n } });
    expect(setup.broker.committed("g", "t", 0)).toBe(1n);
    expect(setup.broker.faults.met).toBe(3);
  });

  test("a failure that is not the record's fault halts the consumer and makes no dead letter", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    for (const failure of [refused, new DOMException("The operation was aborted due to timeout", "TimeoutError")]) {
      const setup = setUp(["a", "b"], { failure: deadLetters });
      const error = await failureOf(
        runToTheEnd(setup, () => {
          throw failure;
        }),
      );
      expect(error).toMatchObject({ code: "handler-failed", at: { offset: 0n } });
      expect(error.cause).toBe(failure);
      expect(deadWords(setup.broker)).toEqual([]);
    }
  });

  test("too many dead letters halt the consumer, and the last record is not committed", async () => {
    const setup = setUp(["broken", "broken", "broken", "broken"], { failure: { ...deadLetters, breaker: { maxInARow: 2 } } });
    const error = await failureOf(runToTheEnd(setup, () => {}));
    expect(error).toMatchObject({ code: "failures-systemic", at: { offset: 2n }, cause: { code: "malformed" } });
    expect(deadWords(setup.broker)).toHaveLength(2);
    expect(setup.broker.committed("g", "t", 0)).toBe(2n);
  });

  test("dead letters of a batch handler count as far apart as their records are", async () => {
    const words = Array.from({ length: 400 }, (_, i) => (i % 40 === 0 ? "poison" : "good"));
    const failure = { ...deadLetters, breaker: { maxInARow: 1, maxShare: 0.05 } };
    const setup = setUp(words, { failure, maxBatchRecords: 400 });
    setup.consumer.on("s.t", {
      batch: (events) => {
        if (events.some((event) => wordOf(event) === "poison")) {
          throw new TypeError("poison");
        }
      },
    });
    const running = setup.consumer.run();
    setup.clock.after(10_000, () => void setup.consumer.stop());
    await setup.clock.run(running);
    expect(deadWords(setup.broker)).toHaveLength(10);
    expect(setup.broker.committed("g", "t", 0)).toBe(400n);
  });

  test("a record without a key parks none: it becomes a dead letter when as many keys are parked as may be", async () => {
    const failure = { ...deadLetters, poison: "park-key", maxParkedKeys: 1 } as const;
    const setup = setUp([["a", "poison"], "poison"], { failure });
    await runToTheEnd(setup, () => {
      throw new TypeError("poison");
    });
    expect(deadWords(setup.broker)).toEqual(["poison", "poison"]);
  });

  test("a driver that cannot write is refused at the start, before anything is read", async () => {
    const clock = virtualClock();
    const own = memory({ broker: new MemoryBroker({ t: 1, dead: 1 }, { clock }) });
    own.broker.append("t", { value: "broken" });
    const readOnly: ConsumerOptions["driver"] = {
      ...own,
      name: "read-only",
      capabilities: own.capabilities,
      connect: async (subscription, sink) => {
        const session = await own.connect(subscription, sink);
        return {
          commit: (offsets) => session.commit(offsets),
          pause: (assignments) => session.pause(assignments),
          resume: (assignments) => session.resume(assignments),
          close: (deadlineMs) => session.close(deadlineMs),
        };
      },
    };
    const { consumer } = setUp([], { driver: readOnly, clock, failure: deadLetters });
    const error = await failureOf(clock.run(consumer.on("*", () => {}).run()));
    expect(error).toMatchObject({ code: "unsupported-by-driver" });
    expect(error.message).toContain("read-only");
  });
});

describe("parked keys", () => {
  const parking = { ...deadLetters, poison: "park-key" } as const;

  test("count even within the batch in which they were parked, when it is handled record by record", async () => {
    const records = [
      ["k1", "a"],
      ["k2", "poison"],
      ["k1", "b"],
      ["k2", "c"],
    ] as const;
    const { clock, broker, consumer } = setUp(records, { failure: { ...parking, retry: false } });
    const seen: string[][] = [];
    consumer.on("s.t", {
      batch: (events) => {
        const words = events.map((event) => (event as unknown as { word: string }).word);
        if (words.includes("poison")) {
          throw new Error("as always");
        }
        seen.push(words);
      },
    });
    const running = consumer.run();
    clock.after(5_000, () => void consumer.stop());
    await clock.run(running);
    expect(seen).toEqual([["a"], ["b"]]);
    expect(deadWords(broker)).toEqual(["poison", "c"]);
    expect(broker.committed("g", "t", 0)).toBe(4n);
  });

  test("later records of a key follow its dead letter in order, and other keys go on", async () => {
    const setup = setUp(
      [
        ["k1", "a"],
        ["k2", "broken"],
        ["k1", "b"],
        ["k2", "c"],
        ["k2", "d"],
        ["k3", "e"],
      ],
      { failure: parking },
    );
    const seen: string[] = [];
    await runToTheEnd(setup, (word) => void seen.push(word));
    expect(seen).toEqual(["a", "b", "e"]);
    expect(deadWords(setup.broker)).toEqual(["broken", "c", "d"]);
    const behind = setup.broker.read("dead", 0, 0n, 10).map((record) => deadLetterOf(record)?.parkedBehind);
    expect(behind).toEqual([null, 1n, 1n]);
  });

  test("later records of a key follow its dead letter out of a stream, too, whose other events are handed out", async () => {
    const records = [
      ["k1", "broken"],
      ["k2", "a"],
      ["k1", "b"],
      ["k2", "c"],
    ] as const;
    const { clock, broker, consumer } = setUp(records, { failure: parking });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { event, done } of consumer.stream()) {
        seen.push(wordOf(event));
        done();
      }
    })();
    clock.after(5_000, () => void consumer.stop());
    await clock.run(reading);
    expect(seen).toEqual(["a", "c"]);
    expect(deadWords(broker)).toEqual(["broken", "b"]);
    expect(broker.committed("g", "t", 0)).toBe(4n);
  });

  test("each of those who take a parked record writes a dead letter of it: they go at their own pace, and the last letters are in order", async () => {
    const { clock, broker, consumer } = setUp([["k1", "poison"]], { failure: { ...parking, retry: false } });
    const handled: string[] = [];
    const sink: Sink = {
      name: "slow",
      claim: async () => [],
      apply: async ({ events }) => {
        await new Promise<void>((resolve) => void clock.after(1_000, resolve));
        if (events.some((event) => wordOf(event) === "poison")) {
          throw Object.assign(new Error("violates a constraint"), { code: "23505" });
        }
      },
      close: async () => {},
    };
    consumer.on("*", (event) => void handled.push(wordOf(event))).to(sink);
    const running = consumer.run();
    clock.after(500, () => void broker.append("t", { key: "k1", value: "b" }, { key: "k1", value: "c" }));
    clock.after(5_000, () => void broker.append("t", { key: "k1", value: "d" }));
    clock.after(60_000, () => void consumer.stop());
    await clock.run(running);
    expect(handled).toEqual(["poison", "b", "c"]);
    expect(deadWords(broker)).toEqual(["poison", "b", "c", "d", "d"]);
    expect(consumer.health().counts.deadLettered).toBe(5);
  });

  test("records without a key are not parked", async () => {
    const setup = setUp(["a", "broken", "b"], { failure: parking });
    const seen: string[] = [];
    await runToTheEnd(setup, (word) => void seen.push(word));
    expect(seen).toEqual(["a", "b"]);
  });

  test("too many keys halt the consumer", async () => {
    const setup = setUp(
      [
        ["k1", "broken"],
        ["k2", "broken"],
        ["k3", "a"],
      ],
      { failure: { ...parking, maxParkedKeys: 1 } },
    );
    const error = await failureOf(runToTheEnd(setup, () => {}));
    expect(error).toMatchObject({ code: "failures-systemic", at: { offset: 1n } });
    expect(error.message).toContain("maxParkedKeys");
    expect(setup.broker.committed("g", "t", 0)).toBe(1n);
  });
});

describe("a registry that is down", () => {
  test("is waited for as long as it lasts, without dead letters, and health says why nothing moves", async () => {
    const setup = setUp(["a", "outage:40", "b"], { failure: { ...deadLetters, retry: false } });
    const seen: string[] = [];
    const reasons: (readonly string[])[] = [];
    setup.clock.after(60_000, () => reasons.push(setup.consumer.health().reasons));
    await runToTheEnd(setup, (word) => void seen.push(word));
    expect(seen).toEqual(["a", "outage:40", "b"]);
    expect(deadWords(setup.broker)).toEqual([]);
    expect(reasons).toEqual([[expect.stringContaining("schema-unavailable")]]);
  });

  test("is waited for by a stream, too", async () => {
    const { clock, consumer } = setUp(["a", "outage:3", "b"]);
    const seen: bigint[] = [];
    const reading = async (): Promise<void> => {
      for await (const delivery of consumer.stream()) {
        seen.push(delivery.event.record.offset);
        delivery.done();
        if (seen.length === 3) {
          break;
        }
      }
    };
    await clock.run(reading());
    expect(seen).toEqual([0n, 1n, 2n]);
  });

  test("a record whose schema becomes known in time is read, and any other is a dead letter", async () => {
    const setup = setUp(["unknown:3", "a", "unknown:1000000", "b"], { failure: { ...deadLetters, unknownSchemaGraceMs: 20_000 } });
    const seen: string[] = [];
    await runToTheEnd(setup, (word) => void seen.push(word));
    expect(seen).toEqual(["unknown:3", "a", "b"]);
    expect(deadWords(setup.broker)).toEqual(["unknown:1000000"]);
    expect(setup.clock.nowMs()).toBeGreaterThan(20_000);
  });

  test("a stream sets records aside that do not decode", async () => {
    const { clock, broker, consumer } = setUp(["a", "broken", "b"], { failure: deadLetters });
    const seen: bigint[] = [];
    const reading = async (): Promise<void> => {
      for await (const delivery of consumer.stream()) {
        seen.push(delivery.event.record.offset);
        delivery.done();
        if (seen.length === 2) {
          break;
        }
      }
    };
    await clock.run(reading());
    expect(seen).toEqual([0n, 2n]);
    expect(deadWords(broker)).toEqual(["broken"]);
    expect(broker.committed("g", "t", 0)).toBe(3n);
  });
});

describe("a dead-letter topic that does not exist", () => {
  const missing = { poison: "dead-letter", deadLetterTopic: "gone" } as const;

  test("is an error at the start, before anything is handled", async () => {
    const setup = setUp(["a"], { failure: missing });
    const seen: string[] = [];
    const error = await failureOf(runToTheEnd(setup, (word) => void seen.push(word)));
    expect(error.message).toContain("there is no topic gone, which failure.deadLetterTopic names");
    expect(seen).toEqual([]);
  });

  test("is created if the options ask for it", async () => {
    const setup = setUp(["a", "broken", "b"], { failure: { ...missing, createDeadLetterTopic: { partitions: 2 } } });
    await runToTheEnd(setup, () => {});
    expect(setup.broker.partitions("gone")).toBe(2);
    expect(setup.broker.endOffset("gone", 0) + setup.broker.endOffset("gone", 1)).toBe(1n);
  });

  test.each([{ partitions: 0 }, { replicas: 1 }, { partitions: 1.5 }])("how it is created is checked: %o", (createDeadLetterTopic) => {
    expect(() => setUp([], { failure: { ...missing, createDeadLetterTopic: createDeadLetterTopic as object } })).toThrow(
      "failure.createDeadLetterTopic",
    );
  });
});
