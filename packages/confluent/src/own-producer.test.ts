import { EventEmitter } from "node:events";
import type { OutgoingRecord } from "@cdckit/consumer";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ClientError, codes, type LowLevelProducer } from "./low-level-client.ts";
import { OwnProducer } from "./own-producer.ts";

const tooLarge = Object.assign(new Error("Broker: Message size too large"), { code: 10 }) as ClientError;
const purged = Object.assign(new Error("Local: Purged in queue"), { code: -152 }) as ClientError;
const fatal = Object.assign(new Error("Local: Fatal error"), { code: -150 }) as ClientError;
const refusal = { code: codes.clusterAuthorization, message: "cluster authorization failed" };
const queueFull = Object.assign(new Error("Local: Queue full"), { code: codes.queueFull }) as ClientError;

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
} {
  const events = new EventEmitter();
  const opaques: unknown[] = [];
  const produce = (_topic: unknown, _partition: unknown, value: Buffer, _key: unknown, _time: unknown, opaque: unknown): void => {
    take(String(value));
    opaques.push(opaque);
  };
  const own = new OwnProducer(() => Object.assign(events, { produce }) as unknown as LowLevelProducer); // as much as is asked
  return {
    own,
    report: (error) => void events.emit("delivery-report", error, { opaque: opaques.shift() }),
    say: (message) => void events.emit("event.error", Object.assign(new Error(message), { code: -1 })),
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
