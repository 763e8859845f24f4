import { EventEmitter } from "node:events";
import type { OutgoingRecord } from "@cdckit/consumer";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ClientError, codes, type LowLevelProducer, type Properties } from "./low-level-client.ts";
import { OwnProducer } from "./own-producer.ts";

const tooLarge = Object.assign(new Error("Broker: Message size too large"), { code: 10 }) as ClientError;
const purged = Object.assign(new Error("Local: Purged in queue"), { code: -152 }) as ClientError;
const fatal = Object.assign(new Error("Local: Fatal error"), { code: -150 }) as ClientError;
const refusal = { code: codes.clusterAuthorization, message: "cluster authorization failed" };
const queueFull = Object.assign(new Error("Local: Queue full"), { code: codes.queueFull }) as ClientError;

const timedOut = Object.assign(new Error("Local: Message timed out"), { code: codes.messageTimedOut }) as ClientError;
const refusedLogin = "b:1: SASL authentication error: Authentication failed: Invalid username or password (after 5ms in state AUTH_REQ)";

const unhandled: unknown[] = [];
const remember = (error: unknown): void => void unhandled.push(error);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", remember);
});
afterEach(() => void process.off("unhandledRejection", remember));

/** A producer whose client does this with each record; `report` is what becomes of one that it has taken. */
function producerThat(take: (value: string) => void): {
  readonly own: OwnProducer;
  readonly report: (error: ClientError | null) => void;
  readonly say: (message: string) => void;
  readonly log: (message: string, fac?: string) => void;
  /** The timestamps that the client was given. */
  readonly times: readonly unknown[];
} {
  const events = new EventEmitter();
  const opaques: unknown[] = [];
  const times: unknown[] = [];
  const produce = (_topic: unknown, _partition: unknown, value: Buffer, _key: unknown, time: unknown, opaque: unknown): void => {
    take(String(value));
    times.push(time);
    opaques.push(opaque);
  };
  const own = new OwnProducer(() => Object.assign(events, { produce }) as unknown as LowLevelProducer); // as much as is asked
  return {
    own,
    times,
    report: (error) => void events.emit("delivery-report", error, { opaque: opaques.shift() }),
    say: (message) => void events.emit("event.error", Object.assign(new Error(message), { code: -1 })),
    log: (message, fac = "FAIL") => void events.emit("event.log", { severity: 3, fac, message: `[thrd:b:1/bootstrap]: ${message}` }),
  };
}

function recordsOf(...values: readonly string[]): readonly OutgoingRecord[] {
  return values.map((value) => ({ topic: "t", key: null, value: Buffer.from(value), headers: [] }));
}

/** Rejections without a listener are reported before this resolves. */
async function untilReported(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("a record that the client refuses ends the write, and the record before it is purged without an unhandled rejection", async () => {
  const { own, report } = producerThat((value) => {
    if (value === "large") {
      throw tooLarge;
    }
  });
  await expect(own.write(recordsOf("small", "large"))).rejects.toBe(tooLarge);
  report(purged);
  await untilReported();
  expect(unhandled).toEqual([]);
});

test("a record that fails while the queue is full ends the write when the others are enqueued", async () => {
  let isFull = true;
  const { own, report } = producerThat((value) => {
    if (value === "second" && isFull) {
      throw queueFull;
    }
  });
  const written = own.write(recordsOf("first", "second"));
  report(purged);
  await untilReported();
  expect(unhandled).toEqual([]);
  isFull = false;
  await expect(written).rejects.toBe(purged);
});

test("a timestamp of 0, which the client takes for none, is written as the next millisecond, and any other one as it is", async () => {
  const { own, report, times } = producerThat(() => {});
  const [record] = recordsOf("first") as [OutgoingRecord];
  const written = own.write([0n, -1n, 1_700_000_000_123n].map((timestamp) => ({ ...record, timestamp })));
  report(null);
  report(null);
  report(null);
  await written;
  expect(times).toEqual([1, -1, 1_700_000_000_123]);
});

test("replicas that are missing are waited for while a broker restarts, and given up before the record has taken too long", () => {
  let properties: Properties = {};
  new OwnProducer((given) => {
    properties = given;
    return new EventEmitter() as unknown as LowLevelProducer; // as much as is asked
  });
  const pauses = Array.from({ length: Number(properties["retries"]) }, (_, i) => 100 * 2 ** i); // of librdkafka: give or take a fifth, 1 s at most
  const sumOf = (factor: number): number => pauses.reduce((sum, pauseMs) => sum + Math.min(1_000, factor * pauseMs), 0);
  expect(sumOf(1)).toBeGreaterThan(15_000);
  expect(sumOf(1.2)).toBeLessThan(Number(properties["delivery.timeout.ms"]) - 1_000);
});

test("records that are delivered end the write", async () => {
  const { own, report } = producerThat(() => {});
  const written = own.write(recordsOf("first", "second"));
  report(null);
  report(null);
  expect(await written).toBe(undefined);
});

test("a record that is purged because the broker gives no producer id fails with that reason, and any other one as it is", async () => {
  const { own, report, say } = producerThat(() => {});
  const other = own.write(recordsOf("first"));
  report(purged);
  await expect(other).rejects.toBe(purged);
  const refused = own.write(recordsOf("second"));
  say("broker transport failure");
  report(purged);
  await untilReported();
  say("cluster authorization failed");
  await expect(refused).rejects.toMatchObject(refusal);
});

test("a record fails with the reason why the broker gives no producer id, also if nothing is reported of it, or if it comes later", async () => {
  let hasGivenUp = false;
  const { own, say } = producerThat(() => {
    if (hasGivenUp) {
      throw fatal;
    }
  });
  const unreported = own.write(recordsOf("first"));
  hasGivenUp = true;
  const later = own.write(recordsOf("second"));
  say("cluster authorization failed");
  await expect(unreported).rejects.toMatchObject(refusal);
  await expect(later).rejects.toMatchObject(refusal);
  await expect(own.write(recordsOf("third"))).rejects.toMatchObject(refusal);
});

test("a record that took too long because brokers refuse the login of the producer fails with that, which is no outage", async () => {
  const { own, report, log } = producerThat(() => {});
  const written = own.write(recordsOf("first"));
  log(refusedLogin);
  report(timedOut);
  await expect(written).rejects.toMatchObject({
    code: "authentication-failed",
    message: expect.stringContaining("a broker refused the login: b:1: SASL authentication error: Authentication failed") as string,
  });
});

test("a record that took too long for another reason stays an outage, and says why there is no connection", async () => {
  const { own, report, log } = producerThat(() => {});
  const written = own.write(recordsOf("first"));
  log(refusedLogin);
  log("b:1: Connect to ipv4#127.0.0.1:1 failed: Connection refused");
  log("something else", "REQTMOUT");
  report(timedOut);
  await expect(written).rejects.toMatchObject({
    code: codes.messageTimedOut,
    message: "Local: Message timed out: b:1: Connect to ipv4#127.0.0.1:1 failed: Connection refused",
  });
});

test("a login that was refused before a write that has succeeded is not the reason of a later failure, nor of one that brokers have answered", async () => {
  const { own, report, log } = producerThat(() => {});
  const answered = own.write(recordsOf("first"));
  log(refusedLogin);
  report(tooLarge);
  await expect(answered).rejects.toBe(tooLarge);
  const succeeded = own.write(recordsOf("second"));
  report(null);
  await succeeded;
  const late = own.write(recordsOf("third"));
  report(timedOut);
  await expect(late).rejects.toBe(timedOut);
});

test("a producer that cannot connect because its login is refused says so", async () => {
  const { own, log } = producerThat(() => {});
  const failed = Object.assign(new Error("broker transport failure"), { code: codes.transport });
  Object.assign(own.client, {
    connect: (_: unknown, done: (error: Error) => void) => {
      log(refusedLogin);
      done(failed);
    },
  });
  await expect(own.connect()).rejects.toMatchObject({ code: "authentication-failed", cause: failed });
});
