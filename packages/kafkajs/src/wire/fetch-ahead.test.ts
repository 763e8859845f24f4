import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { crc32c } from "@cdckit/record-batch";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HeldPartitions } from "../assignments.ts";
import { Fetched } from "../fetched.ts";
import { fetchRequestIn } from "./fetch-request.ts";
import { FrameSplitter } from "./frame-splitter.ts";
import { KeptFetches } from "./kept-fetches.ts";
import { WireTap } from "./wire-tap.ts";

/** kafkajs' own protocol writes the requests, and reads what it is handed. */
interface Encoder {
  readonly buffer: Buffer;
  writeInt8(value: number): Encoder;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeInt64(value: bigint): Encoder;
  writeString(value: string): Encoder;
  writeBuffer(value: Buffer): Encoder;
}
const load = createRequire(import.meta.url);
const { protocol: fetchOf } = load("kafkajs/src/protocol/requests/fetch") as {
  readonly protocol: (options: { readonly version: number }) => (request: object) => { readonly request: object };
};
const createRequest = load("kafkajs/src/protocol/request") as (parts: object) => Promise<Encoder>;
const KafkaJsEncoder = load("kafkajs/src/protocol/encoder") as new () => Encoder;

const topic = "orders";
/** Of each partition of the broker below. */
const logEnd = 100n;
const recordsInBatch = 10n;
/** The broker's batches are their headers alone. */
const bytesPerRecord = 61 / 10;
/** What kafkajs asks for of a partition. */
const asksForBytes = 1_000;
const largestMinFetchBytes = 100_000;

type Offsets = Readonly<Record<number, bigint>>;

async function requestFor(correlationId: number, offsets: Offsets, isReversed = false): Promise<Buffer> {
  const inOrder = Object.entries(offsets).map(([partition, fetchOffset]) => ({
    partition: Number(partition),
    fetchOffset: String(fetchOffset),
    maxBytes: asksForBytes,
  }));
  // kafkajs names a topic for each run of its partitions.
  const topics = isReversed
    ? inOrder.toReversed().map((partition) => ({ topic, partitions: [partition] }))
    : [{ topic, partitions: inOrder }];
  const { request } = fetchOf({ version: 11 })({ maxWaitTime: 10, minBytes: 1, maxBytes: 1_000, topics });
  return (await createRequest({ request, correlationId, clientId: "cdckit" })).buffer;
}

/** A record batch without records, of ten offsets: nothing here reads records. */
function batchAt(offset: bigint): Buffer {
  const batch = Buffer.alloc(61);
  batch.writeBigInt64BE(offset, 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt8(2, 16);
  batch.writeInt32BE(Number(recordsInBatch) - 1, 23);
  batch.writeBigInt64BE(-1n, 43);
  batch.writeUInt32BE(crc32c(batch, 21, batch.length), 17);
  return batch;
}

/** Answers Fetch requests on a real socket, each with the batch at the offset that is asked for. */
class Broker {
  readonly #server: Server = createServer((socket) => this.#serve(socket));
  /** What was asked: correlation id and offsets. */
  readonly asked: { readonly correlationId: number; readonly offsets: Offsets; readonly maxBytes: readonly number[] }[] = [];
  /** While it is on, requests are collected, and answered when it is turned off. */
  isHeld = false;
  errorCode = 0;
  throttleMs = 0;
  #socket: Socket | undefined;
  readonly #waiting: Buffer[] = [];
  #changed: () => void = () => {};

  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#socket?.destroy();
    this.#server.close();
  }

  async hasBeenAsked(times: number): Promise<void> {
    while (this.asked.length < times) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  release(): void {
    this.isHeld = false;
    for (const response of this.#waiting.splice(0)) {
      this.#socket?.write(response);
    }
  }

  #serve(socket: Socket): void {
    this.#socket = socket;
    const splitter = new FrameSplitter((frame) => this.#answer(frame, socket));
    socket.on("data", (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        const target = splitter.target();
        const count = Math.min(target.length, bytes.length - at);
        target.set(bytes.subarray(at, at + count));
        splitter.filled(count);
        at += count;
      }
    });
  }

  #answer(frame: Buffer, socket: Socket): void {
    const request = fetchRequestIn(frame);
    const partitions = [...(request?.offsets.get(topic) ?? [])];
    const asked = partitions.map(([partition, { offset }]) => [partition, offset] as const);
    const correlationId = frame.readInt32BE(8);
    const body = new KafkaJsEncoder().writeInt32(correlationId).writeInt32(this.throttleMs).writeInt16(0).writeInt32(0);
    body.writeInt32(1).writeString(topic).writeInt32(asked.length);
    for (const [partition, offset] of asked) {
      const records = offset < logEnd ? batchAt(offset) : Buffer.alloc(0);
      body
        .writeInt32(partition)
        .writeInt16(this.errorCode)
        .writeInt64(logEnd)
        .writeInt64(logEnd)
        .writeInt64(0n)
        .writeInt32(0)
        .writeInt32(-1);
      body.writeInt32(records.length).writeBuffer(records);
    }
    const response = new KafkaJsEncoder().writeInt32(body.buffer.length).writeBuffer(body.buffer).buffer;
    if (this.isHeld) {
      this.#waiting.push(response);
    } else {
      socket.write(response);
    }
    this.asked.push({ correlationId, offsets: Object.fromEntries(asked), maxBytes: partitions.map(([, { maxBytes }]) => maxBytes) });
    this.#changed();
  }
}

let broker: Broker;
let socket: Socket;
/** The responses that kafkajs would have got, by correlation id. */
let answers: number[];
/** How many topics each of them has. */
let topicsIn: number[];
let tap: WireTap;
let kept: KeptFetches;
let next: () => void;

beforeEach(async () => {
  broker = new Broker();
  const port = await broker.listen();
  kept = new KeptFetches(largestMinFetchBytes);
  tap = new WireTap(`127.0.0.1:${port}`, kept);
  socket = connect({ host: "127.0.0.1", port, onread: tap.onread });
  tap.attach(socket);
  answers = [];
  topicsIn = [];
  next = () => {};
  socket.on("data", (frame) => {
    answers.push(frame.readInt32BE(4));
    topicsIn.push(frame.readInt32BE(18));
    next();
  });
  await once(socket, "connect");
});

afterEach(() => {
  vi.useRealTimers();
  socket.destroy();
  broker.close();
});

/** Asks as kafkajs does, and waits for the answer. */
async function ask(correlationId: number, offsets: Offsets, isReversed = false): Promise<void> {
  const request = await requestFor(correlationId, offsets, isReversed);
  const answered = new Promise<void>((resolve) => {
    next = () => answers.at(-1) === correlationId && resolve();
  });
  socket.write(request, "binary" as never);
  socket.emit("asked");
  await answered;
}

const idsAsked = (): number[] => broker.asked.map(({ correlationId }) => correlationId);
const offsetsAsked = (): Offsets[] => broker.asked.map(({ offsets }) => offsets);

test("the next request is sent before kafkajs asks, and kafkajs gets its response under its own id", async () => {
  await ask(7, { 0: 0n, 1: 50n });
  await broker.hasBeenAsked(2);
  expect(offsetsAsked()).toEqual([
    { 0: 0n, 1: 50n },
    { 0: 10n, 1: 60n },
  ]);
  await ask(8, { 0: 10n, 1: 60n });
  await broker.hasBeenAsked(3);
  expect(answers).toEqual([7, 8]);
  expect(idsAsked()).toEqual([7, -1, -2]);
  expect(offsetsAsked().at(-1)).toEqual({ 0: 20n, 1: 70n });
});

test("a fetch asks for many records once it is known what they take, and kafkajs gets one that was sent ahead with another size", async () => {
  await ask(1, { 0: 0n });
  await ask(2, { 0: 10n });
  await ask(3, { 0: 70n }); // after a seek
  await broker.hasBeenAsked(4);
  expect([answers, idsAsked()]).toEqual([
    [1, 2, 3],
    [1, -1, -2, 3],
  ]);
  const grown = Math.ceil(bytesPerRecord * 8_000);
  expect(broker.asked.map(({ maxBytes }) => maxBytes)).toEqual([[asksForBytes], [grown], [grown], [grown]]);
  await ask(4, { 0: 70n, 1: 0n }); // shared out
  expect(broker.asked.at(-1)?.maxBytes).toEqual([grown / 2, grown / 2]);
});

test("what waits of a response does not keep the rest of it in memory", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const [assignment] = new HeldPartitions().renew({ [topic]: [0] });
  const frames: WeakRef<ArrayBufferLike>[] = [];
  const waiting: Fetched[] = [];
  const keep = kept.keep.bind(kept);
  kept.keep = (address, fetched, version) => {
    frames.push(new WeakRef(fetched.bytes.buffer));
    if (assignment !== undefined) {
      waiting.push(new Fetched(fetched, assignment, {}));
    }
    return keep(address, fetched, version);
  };
  await ask(1, { 0: 0n, 1: 50n, 2: 30n });
  kept.clear();
  waiting.splice(1).forEach((one) => expect(one.next()).not.toBeNull()); // handed over
  waiting[0]?.keep();
  await expect
    .poll(() => {
      gc();
      return frames.slice(0, 3).map((frame) => frame.deref() === undefined);
    })
    .toEqual([true, true, true]);
  expect(waiting[0]?.next()).not.toBeNull();
});

test("kafkajs gets it in whichever order it asks: it shuffles its partitions", async () => {
  await ask(7, { 0: 0n, 1: 50n, 2: 30n });
  await broker.hasBeenAsked(2);
  await ask(8, { 0: 10n, 1: 60n, 2: 40n }, true);
  await broker.hasBeenAsked(3);
  expect([answers, idsAsked()]).toEqual([
    [7, 8],
    [7, -1, -2],
  ]);
  await ask(9, { 0: 20n, 1: 70n, 2: 51n }, true); // one of them is elsewhere
  expect(idsAsked()).toEqual([7, -1, -2, 9]);
});

test("kafkajs asks before the response is there", async () => {
  await ask(1, { 0: 0n });
  await broker.hasBeenAsked(2);
  broker.isHeld = true;
  await ask(2, { 0: 10n }); // that one was answered
  await broker.hasBeenAsked(3);
  const asking = ask(3, { 0: 20n });
  setImmediate(() => broker.release());
  await asking;
  expect(answers).toEqual([1, 2, 3]);
  expect(idsAsked().slice(0, 3)).toEqual([1, -1, -2]);
});

test("if kafkajs asks for something else, it gets that and nothing else, and fewer requests are sent ahead", async () => {
  await ask(1, { 0: 0n });
  await broker.hasBeenAsked(2);
  await ask(2, { 0: 70n }); // after a seek
  await ask(3, { 0: 80n });
  await broker.hasBeenAsked(5);
  await ask(4, { 0: 90n, 1: 0n }); // a partition was resumed
  expect(answers).toEqual([1, 2, 3, 4]);
  // One chance is left out after the first wasted response.
  expect(idsAsked()).toEqual([1, -1, 2, 3, -2, 4]);
  expect(offsetsAsked().at(-1)).toEqual({ 0: 90n, 1: 0n });
});

test.each<[string, () => void]>([
  ["a partition has an error", () => (broker.errorCode = 6)],
  ["the broker asks for a pause", () => (broker.throttleMs = 100)],
])("nothing is sent ahead if %s", async (_, change) => {
  change();
  await ask(1, { 0: 0n });
  await ask(2, { 0: 0n });
  expect(idsAsked()).toEqual([1, 2]);
});

test("nothing is sent ahead at the end of the log, where the broker would wait for new records", async () => {
  await ask(1, { 0: 90n });
  await ask(2, { 0: 100n });
  expect(idsAsked()).toEqual([1, 2]);
});

test("fetches that are ended get an empty response at once, and the broker's response to them goes nowhere", async () => {
  broker.isHeld = true;
  const asking = ask(1, { 0: 100n });
  await broker.hasBeenAsked(1);
  tap.endFetches();
  await asking;
  broker.release();
  await ask(2, { 0: 0n });
  await broker.hasBeenAsked(3); // the next one is under way
  expect(answers).toEqual([1, 2]);
  expect(topicsIn).toEqual([0, 1]);
});

test("so does a fetch that was sent ahead, and one whose response is here is not answered twice", async () => {
  await ask(1, { 0: 0n });
  await broker.hasBeenAsked(2);
  broker.isHeld = true;
  await ask(2, { 0: 10n });
  await broker.hasBeenAsked(3);
  const asking = ask(3, { 0: 20n });
  await once(socket, "asked");
  tap.endFetches();
  await asking;
  broker.release();
  await ask(4, { 0: 30n });
  await ask(5, { 0: 30n });
  tap.endFetches();
  expect(answers).toEqual([1, 2, 3, 4, 5]);
  expect(topicsIn).toEqual([1, 1, 0, 1, 1]);
});

test("a response that nobody asks for is let go after a while", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await ask(1, { 0: 0n });
  await broker.hasBeenAsked(2);
  await vi.waitUntil(() => vi.getTimerCount() === 1, { timeout: 30_000 });
  vi.advanceTimersByTime(5_000);
  await ask(2, { 0: 10n });
  expect(answers).toEqual([1, 2]);
  expect(idsAsked()).toEqual([1, -1, 2]);
});

test("a connection that has ended takes no request that is fetched ahead", async () => {
  await ask(1, { 0: 0n });
  await broker.hasBeenAsked(2);
  socket.destroy();
  const failed = new Promise((resolve) => {
    void requestFor(2, { 0: 10n }).then((request) => socket.write(request, resolve));
  });
  expect(await failed).toMatchObject({ code: "ERR_STREAM_DESTROYED" });
});
