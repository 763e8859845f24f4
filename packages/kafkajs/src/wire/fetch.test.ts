import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isKafkaJsDriverError } from "../errors.ts";
import { BrokerRecords } from "./broker-records.ts";
import { askForBytes, type FetchRequest, fetchRequestIn } from "./fetch-request.ts";
import { type FetchedPartition, replaceRecords } from "./fetch-response.ts";
import { KeptFetches } from "./kept-fetches.ts";

/** kafkajs' own protocol: what it writes has to be understood, and what it is handed has to be read by it. */
interface Encoder {
  readonly buffer: Buffer;
  writeInt8(value: number): Encoder;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeInt64(value: bigint | number): Encoder;
  writeString(value: string): Encoder;
  writeBuffer(value: Buffer): Encoder;
  writeBytes(value: Buffer): Encoder;
}
interface Protocol {
  readonly request: object;
  readonly response: { decode(payload: Buffer): Promise<Decoded> };
}
interface Decoded {
  readonly throttleTime?: number;
  readonly clientSideThrottleTime?: number;
  readonly sessionId?: number;
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly DecodedPartition[] }[];
}
interface DecodedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly preferredReadReplica?: number;
  readonly abortedTransactions?: readonly object[];
  readonly messages: readonly { readonly offset: string; readonly key: Buffer | null; readonly value: Buffer | null }[];
}
const load = createRequire(import.meta.url);
const { versions, protocol: fetchOf } = load("kafkajs/src/protocol/requests/fetch") as {
  readonly versions: readonly string[];
  readonly protocol: (options: { readonly version: string | number }) => (request: object) => Protocol;
};
const createRequest = load("kafkajs/src/protocol/request") as (parts: object) => Promise<Encoder>;
const KafkaJsEncoder = load("kafkajs/src/protocol/encoder") as new () => Encoder;

const offsets = new Map([
  [
    "orders",
    new Map([
      [0, 7n],
      [3, 0n],
    ]),
  ],
  ["größe", new Map([[1, 2n ** 40n]])],
]);

/** The request that kafkajs writes for these offsets. */
async function requestOf(version: number): Promise<Buffer> {
  const topics = [...offsets].map(([topic, partitions]) => ({
    topic,
    partitions: [...partitions].map(([partition, fetchOffset]) => ({ partition, fetchOffset: String(fetchOffset), maxBytes: 1_000 })),
  }));
  const { request } = fetchOf({ version })({ maxWaitTime: 10, minBytes: 1, maxBytes: 1_000, rackId: "rack-1", topics });
  return (await createRequest({ request, correlationId: 4_711, clientId: "cdckit" })).buffer;
}

function offsetsIn(request: FetchRequest | null): typeof offsets {
  return new Map(
    [...(request?.offsets ?? [])].map(([topic, asked]) => [topic, new Map([...asked].map(([id, { offset }]) => [id, offset]))]),
  );
}

interface Answered {
  readonly partition: number;
  readonly errorCode: number;
  readonly records: Buffer | null;
}

/** A response as a broker writes it: https://kafka.apache.org/protocol#The_Messages_Fetch */
function responseOf(version: number, topic: string, partitions: readonly Answered[], throttleMs = 250): Buffer {
  const body = new KafkaJsEncoder().writeInt32(4_711);
  if (version >= 1) body.writeInt32(throttleMs);
  if (version >= 7) body.writeInt16(0).writeInt32(99);
  body.writeInt32(1).writeString(topic).writeInt32(partitions.length);
  for (const { partition, errorCode, records } of partitions) {
    body.writeInt32(partition).writeInt16(errorCode).writeInt64(1_234);
    if (version >= 4) body.writeInt64(1_200);
    if (version >= 5) body.writeInt64(3);
    if (version >= 4) body.writeInt32(1).writeInt64(55).writeInt64(8);
    if (version >= 11) body.writeInt32(2);
    body.writeInt32(records === null ? -1 : records.length);
    body.writeBuffer(records ?? Buffer.alloc(0));
  }
  return new KafkaJsEncoder().writeInt32(body.buffer.length).writeBuffer(body.buffer).buffer;
}

/** Bytes that begin as a record batch does. Nothing of them is read before they are handed over. */
function recordsOf(length = 500): Buffer {
  const records = Buffer.alloc(length, 0xab);
  records[16] = 2;
  return records;
}

test.each(versions.map(Number))(
  "version %i: the request is understood, and kafkajs reads the response that it gets instead",
  async (version) => {
    const request = fetchRequestIn(await requestOf(version));
    expect(request).toMatchObject({ correlationId: 4_711, version });
    expect(offsetsIn(request)).toEqual(offsets);
    const kept = new KeptFetches();
    const taken: FetchedPartition[] = [];
    const records = recordsOf();
    const frame = responseOf(version, "orders", [
      { partition: 0, errorCode: 0, records },
      { partition: 3, errorCode: 0, records: Buffer.alloc(0) },
      { partition: 4, errorCode: 1, records: null },
    ]);
    const { response: handedOn, throttleMs } = replaceRecords(frame, 8, request as never, (fetched) => {
      taken.push(fetched);
      return kept.keep("b:9092", { ...fetched, unpackedTo: () => {} }, version);
    });
    expect(throttleMs).toBe(version >= 1 ? 250 : 0);
    const abortedTransactions = version >= 4 ? [{ producerId: 55n, firstOffset: 8n }] : [];
    expect(taken).toEqual([
      {
        topic: "orders",
        partition: 0,
        fromOffset: 7n,
        nextOffset: 7n,
        highWatermark: version >= 4 ? 1_200n : 1_234n,
        abortedTransactions,
        bytes: records,
      },
    ]);
    expect(handedOn.readInt32BE(4)).toBe(4_711);
    const decoded = await fetchOf({ version })({ topics: [] }).response.decode(handedOn.subarray(8));
    expect([decoded.throttleTime ?? 250, decoded.clientSideThrottleTime ?? 0, decoded.sessionId]).toEqual([
      version >= 8 ? 0 : 250,
      version >= 8 ? 250 : 0,
      version >= 7 ? 99 : undefined,
    ]);
    const [first, second, third] = decoded.responses[0]?.partitions ?? [];
    expect(first).toMatchObject({
      partition: 0,
      errorCode: 0,
      highWatermark: "1234",
      ...(version >= 11 ? { preferredReadReplica: 2 } : {}),
    });
    expect(first?.messages.map(({ offset }) => offset)).toEqual(["7"]);
    const standIn = first?.messages[0] as { key: Buffer; value: Buffer };
    expect(kept.take(standIn)?.bytes).toBe(taken[0]?.bytes);
    expect(kept.take(standIn), "given once").toBeUndefined();
    expect([second?.messages, third?.messages]).toEqual([[], []]);
    expect(third?.errorCode).toBe(1);
  },
);

test.each([
  ["a partition with an error", { partition: 0, errorCode: 6, records: recordsOf() }],
  ["a partition that was not asked for", { partition: 9, errorCode: 0, records: recordsOf() }],
  ["no records", { partition: 0, errorCode: 0, records: null }],
])("a response stays as it is: %s", async (_, answered) => {
  const frame = responseOf(11, "orders", [answered]);
  const request = fetchRequestIn(await requestOf(11));
  const keep = (): Buffer => {
    throw new Error("expected that nothing is kept");
  };
  expect(replaceRecords(frame, 8, request as never, keep).response).toBe(frame);
});

test("that a broker wants no pause is said also of the partitions without records: no quota holds them back any more", async () => {
  const kept = new KeptFetches();
  const said: number[] = [];
  kept.paced = (_, throttleMs) => void said.push(throttleMs);
  const request = fetchRequestIn(await requestOf(11)) as FetchRequest;
  const records = new BrokerRecords("b:9092", kept);
  for (const [some, throttleMs] of [
    [null, 250],
    [recordsOf(), 250],
    [recordsOf(), 0],
    [null, 0],
  ] as const) {
    records.take(responseOf(11, "orders", [{ partition: 0, errorCode: 0, records: some }], throttleMs), 8, request);
  }
  expect(said).toEqual([250, 0, 0]);
});

const MiB = 1_048_576;

test.each([
  { version: 11, partitions: 1 },
  { version: 2, partitions: 1 },
  { version: 4, partitions: 3 },
  { version: 9, partitions: 64 },
])("a fetch of $partitions partitions, version $version, asks for another number of bytes", async ({ version, partitions }) => {
  const topics = ["orders", "customers"].map((topic, i) => ({
    topic,
    partitions: Array.from({ length: i === 0 ? partitions - (partitions >> 1) : partitions >> 1 }, (_, partition) => ({
      partition,
      fetchOffset: "7",
      maxBytes: MiB + partition,
    })),
  }));
  const { request } = fetchOf({ version })({
    maxWaitTime: 10,
    minBytes: 1,
    maxBytes: 10 * MiB,
    topics: topics.filter((one) => one.partitions.length > 0),
  });
  const { buffer } = await createRequest({ request, correlationId: 1, clientId: "cdckit" });
  const found = fetchRequestIn(buffer);
  const before = offsetsIn(found);
  const counts = new Set<number>();
  askForBytes(found as FetchRequest, (askedBytes, count) => {
    counts.add(count);
    return askedBytes * 2;
  });
  expect([...counts]).toEqual([partitions]);
  const sent = fetchRequestIn(buffer);
  expect(offsetsIn(sent)).toEqual(before);
  for (const ofTopic of sent?.offsets.values() ?? []) {
    for (const [partition, { maxBytes }] of ofTopic) {
      expect(maxBytes).toBe(2 * (MiB + partition));
    }
  }
});

test("other requests, and bytes of a login, are no Fetch requests", async () => {
  const fetch = await requestOf(11);
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(fetch);
    change(bytes);
    return bytes;
  };
  const others = [
    Buffer.alloc(0),
    Buffer.from("n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL"),
    changed((bytes) => bytes.writeInt16BE(3, 4)), // Metadata
    changed((bytes) => bytes.writeInt16BE(12, 6)), // a version that kafkajs does not speak
    changed((bytes) => bytes.writeInt32BE(5, 0)),
    fetch.subarray(0, -1),
    Buffer.concat([fetch, fetch]),
  ];
  expect(others.map(fetchRequestIn)).toEqual(others.map(() => null));
});

test("a damaged response is read to its end, or is an error of its own kind", async () => {
  const request = fetchRequestIn(await requestOf(11));
  const frame = responseOf(11, "orders", [
    { partition: 0, errorCode: 0, records: recordsOf() },
    { partition: 3, errorCode: 0, records: recordsOf(60) },
  ]);
  const damage = fc.tuple(fc.integer({ min: 8, max: frame.length - 1 }), fc.nat(255), fc.integer({ min: 8, max: frame.length }));
  fc.assert(
    fc.property(damage, ([at, byte, end]) => {
      const damaged = Buffer.from(frame.subarray(0, end));
      if (at < end) {
        damaged[at] = byte;
      }
      try {
        const { response: handedOn } = replaceRecords(damaged, 8, request as never, () => Buffer.from("instead"));
        expect(handedOn.readInt32BE(4)).toBe(4_711);
      } catch (error) {
        expect(isKafkaJsDriverError(error) && error.code).toBe("protocol-mismatch");
      }
    }),
    { numRuns: 2_000 },
  );
});

test("what a broker has sent is forgotten when it is asked for more", () => {
  const kept = new KeptFetches();
  const fetched = {
    topic: "t",
    partition: 0,
    fromOffset: 5n,
    nextOffset: 6n,
    highWatermark: 9n,
    abortedTransactions: [],
    bytes: recordsOf(),
    unpackedTo: () => {},
  };
  const messageOf = (batch: Buffer): { key: Buffer; value: Buffer } => ({ key: batch.subarray(66, 82), value: batch.subarray(83, 91) });
  const one = messageOf(kept.keep("one:9092", fetched, 11));
  const two = messageOf(kept.keep("two:9092", fetched, 11));
  kept.forget("one:9092");
  const three = messageOf(kept.keep("two:9092", fetched, 11));
  expect([kept.take(one), kept.take(two)]).toEqual([undefined, fetched]);
  expect(new KeptFetches().take(three), "of another client").toBeUndefined();
  expect(kept.take({ key: null, value: Buffer.alloc(8) })).toBeUndefined();
  expect(kept.take({ key: Buffer.from("k"), value: Buffer.from("v") }), "a record").toBeUndefined();
});
