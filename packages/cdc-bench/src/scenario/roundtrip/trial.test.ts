import { describe, expect, test } from "vitest";
import type { Codec } from "../../codec/codec.ts";
import type { Row } from "../../codec/data-sets.ts";
import { jsonCodec } from "../../codec/codecs/json.ts";
import { checkCodecs, type ThreadState, playTrial } from "./trial.ts";
import type { Trial, TrialOutcome } from "./thread-protocol.ts";
import { PendingDeliveries, type Transport } from "./transport.ts";
import type { VersionedCodec } from "./roundtrip-codecs.ts";

const rows: readonly Row[] = [{ id: 1 }, { id: 2 }, { id: 3 }];
const json = jsonCodec<Row>();
const trial: Trial = {
  codec: 0,
  compression: "none",
  inFlight: 1,
  batch: 1,
  rounds: 10,
  durationMs: null,
  writer: "old",
  reader: "old",
  isTolerant: false,
};

function versioned(codec: Codec<Row>): VersionedCodec {
  return { name: codec.name, versions: { old: codec, new: codec }, isPlugIn: true };
}

/** A transport that gives back what it is given, and counts what is under way. */
function echo(): Transport & { maxAtOnce: number; readonly sent: Uint8Array[] } {
  let current = 0;
  const transport = {
    maxAtOnce: 0,
    sent: [] as Uint8Array[],
    async exchange(payloads: readonly Uint8Array[], onSent: () => void) {
      transport.maxAtOnce = Math.max(transport.maxAtOnce, ++current);
      transport.sent.push(...payloads);
      await new Promise((resolve) => setImmediate(resolve));
      onSent();
      current--;
      return payloads.map((bytes) => Uint8Array.from(bytes));
    },
    close: async () => {},
  };
  return transport;
}

/** Takes so long at least, by the clock that is measured with. */
function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

function state(stopAfter = Number.POSITIVE_INFINITY): ThreadState {
  let done = 0;
  return {
    enter: () => {},
    roundDone: () => void done++,
    get isStopped() {
      return done >= stopAfter;
    },
  };
}

function play(
  changes: Partial<Trial>,
  codec: Codec<Row> = json,
  transport: Transport = echo(),
  thread: ThreadState = state(),
): Promise<TrialOutcome> {
  return playTrial({ ...trial, ...changes }, { codec: versioned(codec), transport, rows, field: "note", state: thread });
}

describe("the rounds of a trial", () => {
  test("are as many as were asked for, with all their values, and rows in turn", async () => {
    const transport = echo();
    const outcome = await play({ batch: 2 }, json, transport);
    expect(outcome).toMatchObject({ rounds: 10, values: 20, failures: 0, copings: { same: 20 } });
    expect(outcome.latency.count).toBe(10);
    expect(outcome.bytes).toBe(transport.sent.reduce((sum, { byteLength }) => sum + byteLength, 0));
    expect(transport.sent.slice(0, 4).map((bytes) => Buffer.from(bytes).toString())).toEqual([
      '{"id":1}',
      '{"id":2}',
      '{"id":3}',
      '{"id":1}',
    ]);
    expect(transport.maxAtOnce).toBe(1);
  });

  test("overlap as much as they may, and no more", async () => {
    const transport = echo();
    expect(await play({ inFlight: 4 }, json, transport)).toMatchObject({ rounds: 10, copings: { same: 10 } });
    expect(transport.maxAtOnce).toBe(4);
  });

  test("take as long as their parts", async () => {
    const slow: Transport = {
      async exchange(payloads, onSent) {
        spin(2);
        onSent();
        spin(3);
        return payloads;
      },
      close: async () => {},
    };
    const { elapsedMs, serializeMs, sendMs, receiveMs, deserializeMs } = await play({ rounds: 5 }, json, slow);
    expect(sendMs).toBeGreaterThanOrEqual(5 * 2);
    expect(receiveMs).toBeGreaterThanOrEqual(5 * 3);
    expect(serializeMs + sendMs + receiveMs + deserializeMs).toBeLessThanOrEqual(elapsedMs);
  });

  test("end when the time is over, and when they are stopped", async () => {
    expect((await play({ rounds: null, durationMs: 20 })).elapsedMs).toBeGreaterThanOrEqual(20);
    expect(await play({}, json, echo(), state(3))).toMatchObject({ rounds: 3 });
  });

  test("go over a schema that changes", async () => {
    expect(await play({ writer: "new", isTolerant: true })).toMatchObject({ copings: { kept: 10 } });
    const strict: Codec<Row> = { ...json, deserialize: () => Promise.reject(new Error("no such field")) };
    expect(await play({ writer: "new", isTolerant: true }, strict)).toMatchObject({ failures: 10, failure: "no such field", copings: {} });
  });
});

describe("what is wrong ends the measurement", () => {
  const lying: Codec<Row> = { ...json, name: "liar", deserialize: () => ({ id: 99 }) };
  const throwing: Codec<Row> = {
    ...json,
    name: "thrower",
    serialize: () => {
      throw new Error("no\nsecret second line");
    },
  };

  test("a codec that gives back other values", async () => {
    await expect(play({}, lying)).rejects.toThrow("liar does not give back the values");
    await expect(checkCodecs([versioned(lying)], rows, state(), () => {})).rejects.toThrow("liar does not give back the values");
  });

  test("a codec that throws, with the start of what it says", async () => {
    await expect(play({}, throwing)).rejects.toThrow("the codec thrower failed in serialize(): no.");
    await expect(checkCodecs([versioned(throwing)], rows, state(), () => {})).rejects.toThrow("failed in serialize(): no.");
    const broken: Codec<Row> = { ...json, deserialize: () => Promise.reject(new TypeError("cut")) };
    await expect(play({}, broken)).rejects.toThrow("failed in deserialize(): cut.");
  });

  test("a codec whose bytes are none", async () => {
    const text = { ...json, serialize: () => "text" as unknown as Uint8Array };
    await expect(checkCodecs([versioned(text)], rows, state(), () => {})).rejects.toThrow("it gave no bytes");
  });

  test("a transport that gives back other bytes, or fewer", async () => {
    const other = { ...echo(), exchange: async () => [Buffer.from("{}")] };
    await expect(play({}, json, other)).rejects.toThrow("what came back is not what was sent");
    await expect(play({ batch: 2 }, json, { ...echo(), exchange: async ([first]: readonly Uint8Array[]) => [first!] })).rejects.toThrow(
      "what came back is not what was sent",
    );
  });
});

describe("pending deliveries", () => {
  test("are matched by their number, in whatever order they come", async () => {
    const pending = new PendingDeliveries();
    const [first, second] = [pending.number(), pending.number()];
    const waiting = [pending.wait(first), pending.wait(second)];
    pending.deliver("unknown", Buffer.from("x"));
    pending.deliver(second, Buffer.from("2"));
    pending.deliver(first, Buffer.from("1"));
    expect((await Promise.all(waiting)).map(String)).toEqual(["1", "2"]);
  });

  test("fail with what ended the connection, also those that come later", async () => {
    const pending = new PendingDeliveries();
    const waiting = pending.wait(pending.number());
    pending.fail(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    await expect(pending.wait(pending.number())).rejects.toThrow("gone");
  });
});
