import { createConsumer } from "@cdckit/consumer";
import { type CdcEvent, createDecoder, type KafkaRecord } from "@cdckit/decode";
import { RecordArrayBatch } from "@cdckit/testkit";
import { compileFunction } from "node:vm";
import { avscTypes } from "../avsc-peer.ts";
import type { Corpus } from "../corpus.ts";
import { readRow, type SalesOrderDetail } from "../sales-order-detail.ts";
import { inFetchedBatches } from "../fetched-batches.ts";
import { handOver } from "../hand-over-driver.ts";
import { asRecorded, type Encoding, type Operation, variedCorpus, type Written } from "../varied-corpus.ts";

/** Records in an order in which one differs from the next. */
export interface Mix {
  readonly name: string;
  /** The mix whose figure this one is compared with. */
  readonly beside: string;
  readonly encodings: readonly Encoding[];
  readonly count: number;
  readonly describe: (nth: number) => Written;
  /** Whether each pass has a new decoder, which has seen nothing. */
  readonly isFresh?: boolean;
  /** What V8 needs to learn all of its shapes, of processor time. */
  readonly warmUpMs: number;
  /** Whether each table has a handler of its own, as in a service. One that reads the rows of many tables costs more than decoding them. */
  readonly hasHandlers?: boolean;
  /** avsc in place of our decoder. */
  readonly isPeer?: boolean;
  /** Through `createConsumer`, from so many partitions, a fetch of each in turn. */
  readonly partitions?: number;
}

const debezium = ["json-with-schema", "json", "confluent-avro", "confluent-protobuf"] as const;
const withVersions = ["json-with-schema", "json", "confluent-avro"] as const;
const messages = 4_000;
const warmUpMs = 1_000;
/** Each table has code of its own, which V8 compiles once it has run for a while. */
const warmUpMsPerTable = 10;
/** Of a mix that goes through `createConsumer`: it takes more of them, because a consumer starts and stops once a pass. */
const consumed = 16_000;
const recordsPerFetch = 250;

const ofOperations =
  (operations: readonly Operation[]) =>
  (nth: number): Written => ({
    ...asRecorded,
    operation: operations[nth % operations.length] as Operation, // within bounds
  });

/** A fixed sequence without a period that a decoder could learn. */
function pseudoRandom(nth: number): number {
  let x = Math.imul(nth + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  return ((x ^ (x >>> 13)) >>> 0) / 2 ** 32;
}

const inOneTopic = "js.sales.salesorderdetailbig";
const operations: readonly Operation[] = ["c", "u", "d", "tombstone"];
const withoutTombstones: readonly Operation[] = ["c", "u", "d"];

export const mixes: readonly Mix[] = [
  mix("creates", { encodings: [...debezium, "maxwell", "rows-json", "rows-avro"], describe: () => asRecorded }),
  mix("creates and updates in turn", { encodings: ["maxwell"], describe: ofOperations(["c", "u"]) }),
  mix("creates, updates and deletes in turn", { encodings: [...debezium, "maxwell"], describe: ofOperations(withoutTombstones) }),
  mix("creates, updates, deletes and tombstones in turn", { encodings: debezium, describe: ofOperations(operations) }),
  mix("creates, updates, deletes and tombstones at random", {
    encodings: debezium,
    describe: (nth) => ({ ...asRecorded, operation: operations[Math.floor(4 * pseudoRandom(nth))] as Operation }),
  }),
  mix("two tables of one topic in turn", { encodings: withVersions, describe: tablesOfOneTopic((nth) => nth % 2) }),
  mix("eight tables of one topic at random", {
    encodings: withVersions,
    describe: tablesOfOneTopic((nth) => Math.floor(8 * pseudoRandom(nth))),
  }),
  ...[8, 32, 128].map((tables) =>
    mix(`${tables} tables of one topic at random, each of its own columns`, {
      encodings: [...withVersions, "maxwell"],
      warmUpMs: 1_000 + 60 * tables,
      hasHandlers: true,
      describe: tablesOfOneTopic((nth) => Math.floor(tables * pseudoRandom(nth)), true),
    }),
  ),
  mix("two versions of a table in turn", { encodings: withVersions, describe: (nth) => ({ ...asRecorded, version: nth % 2 }) }),
  mix("creates, to a new decoder", { encodings: withVersions, count: 10_000, isFresh: true, describe: () => asRecorded }),
  mix("a new version every 1,000, to a new decoder", {
    encodings: withVersions,
    count: 10_000,
    isFresh: true,
    beside: "creates, to a new decoder",
    describe: (nth) => ({ ...asRecorded, version: Math.floor(nth / 1_000) }),
  }),
  mix("another version every 1,000", {
    encodings: withVersions,
    count: 10_000,
    describe: (nth) => ({ ...asRecorded, version: Math.floor(nth / 1_000) }),
  }),
  ...[10, 100, 1_000].flatMap((tables) => [
    mix(`${tables} tables in turn`, {
      encodings: withVersions,
      warmUpMs: warmUpMsOf(tables),
      describe: (nth) => ({ ...asRecorded, table: nth % tables }),
    }),
    mix(`${tables} tables, 50 records each in turn`, {
      encodings: withVersions,
      warmUpMs: warmUpMsOf(tables),
      count: Math.max(messages, 50 * tables),
      describe: (nth) => ({ ...asRecorded, table: Math.floor(nth / 50) % tables }),
    }),
  ]),
  mix("creates, from 1 partition", { encodings: withVersions, partitions: 1, count: consumed, describe: () => asRecorded }),
  ...[4, 16, 64].map((partitions) =>
    mix(`creates, from ${partitions} partitions`, {
      encodings: withVersions,
      partitions,
      count: consumed,
      beside: "creates, from 1 partition",
      describe: () => asRecorded,
    }),
  ),
  ...[4_096, 65_536, 1_048_576].map((textBytes) =>
    mix(`a text of ${textBytes} bytes`, {
      encodings: debezium,
      count: Math.max(16, Math.min(messages, Math.floor(16_777_216 / textBytes))),
      describe: () => ({ ...asRecorded, textBytes }),
    }),
  ),
  mix("one text of 262144 bytes in 20", {
    encodings: debezium,
    count: 1_000,
    describe: (nth) => ({ ...asRecorded, textBytes: nth % 20 === 0 ? 262_144 : 0 }),
  }),
  mix("creates, avsc alone", { encodings: ["rows-avro"], isPeer: true, describe: () => asRecorded }),
];

function mix(name: string, chosen: Pick<Mix, "encodings" | "describe"> & Partial<Mix>): Mix {
  return { name, beside: "creates", count: messages, warmUpMs, ...chosen };
}

function warmUpMsOf(tables: number): number {
  return Math.max(warmUpMs, warmUpMsPerTable * tables);
}

function tablesOfOneTopic(tableOf: (nth: number) => number, haveOwnColumn: boolean = false): Mix["describe"] {
  return (nth) => {
    const table = tableOf(nth);
    return { ...asRecorded, table, version: haveOwnColumn ? table : 0, topic: inOneTopic };
  };
}

export interface MixPass {
  readonly pass: () => number | Promise<number>;
  readonly messages: number;
  readonly bytes: number;
}

export async function passOf({ count, describe, isFresh, hasHandlers, isPeer, partitions }: Mix, encoding: Encoding): Promise<MixPass> {
  const corpus = await variedCorpus(encoding, count, describe);
  const records = inFetchedBatches(corpus.records);
  const bytes = records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
  if (partitions !== undefined) {
    return { pass: consumerPass({ ...corpus, records }, partitions), messages: records.length, bytes };
  }
  const decode = isPeer === true ? peer(corpus) : ours(corpus, isFresh === true, hasHandlers === true ? readByTable() : readEvent);
  return { pass: () => decode(records), messages: records.length, bytes };
}

function ours({ schemas }: Corpus, isFresh: boolean, read: typeof readEvent): (records: readonly KafkaRecord[]) => number {
  const warm = createDecoder({ schemas });
  return (records) => {
    const decoder = isFresh ? createDecoder({ schemas }) : warm;
    let sum = 0;
    for (const record of records) {
      sum += read(decoder.decode(record) as readonly CdcEvent[]); // every schema is at hand
    }
    return sum;
  };
}

/** The records lie in the partitions in turn, and come in fetches of one partition each. */
function consumerPass({ records, schemas }: Corpus, partitions: number): () => Promise<number> {
  const topic = records[0]?.topic ?? "";
  const batches: RecordArrayBatch[] = [];
  const ends = new Array<bigint>(partitions).fill(0n);
  const assignments = ends.map((_, partition) => Object.freeze({ topic, partition, epoch: 1 }));
  for (let at = 0; at < records.length; at += recordsPerFetch) {
    const partition = batches.length % partitions;
    const fetched = records.slice(at, at + recordsPerFetch).map((record, i) => {
      return { ...record, partition, offset: (ends[partition] ?? 0n) + BigInt(i) };
    });
    ends[partition] = (ends[partition] ?? 0n) + BigInt(fetched.length);
    batches.push(new RecordArrayBatch({ assignment: assignments[partition] as (typeof assignments)[number], records: fetched }));
  }
  const decoder = createDecoder({ schemas }); // it stays warm from pass to pass
  return async () => {
    const { driver, handedOver } = handOver(batches);
    const consumer = createConsumer({ driver, groupId: "bench", topics: [topic], decoder, signals: false, logger: false });
    let sum = 0;
    consumer.on("*", (event) => {
      sum += readEvent([event]);
    });
    const running = consumer.run();
    await handedOver;
    await consumer.stop();
    await running;
    return sum;
  };
}

function readByTable(): typeof readEvent {
  const handlers = new Map<string, typeof readRow>();
  return (events) => {
    const [event] = events;
    if (event?.kind !== "change") {
      return readEvent(events);
    }
    const name = event.table?.name ?? "";
    let handler = handlers.get(name);
    if (handler === undefined) {
      handler = compileFunction(`return ${String(readRow)} // ${name}`)() as typeof readRow; // V8 learns for each text apart
      handlers.set(name, handler);
    }
    return readEvent(events, handler);
  };
}

function readEvent([event]: readonly CdcEvent[], readColumns: typeof readRow = readRow): number {
  switch (event?.kind) {
    case "change":
      return event.op.length + readKey(event.key) + readColumns(event.before as never) + readColumns(event.after as never);
    case "row":
      return readKey(event.key) + readRow(event.row as never);
    case "tombstone":
      return readKey(event.key);
    default:
      throw new Error(`the corpus holds changes, rows and tombstones only, found ${event?.kind}`);
  }
}

function readKey(key: unknown): number {
  return (key as { readonly id: number }).id === 0 ? 0 : 1;
}

function peer({ schemas, records: [first] }: Corpus): (records: readonly KafkaRecord[]) => number {
  const idOf = (bytes: Uint8Array | null): number => (bytes as Buffer).readInt32BE(1);
  const ids = [idOf(first?.key ?? null), idOf(first?.value ?? null)];
  const types = avscTypes(schemas, ids);
  const read = (bytes: Uint8Array | null): unknown => types.get(idOf(bytes))?.fromBuffer((bytes as Buffer).subarray(5));
  return (records) => {
    let sum = 0;
    for (const { key, value } of records) {
      sum += readKey(read(key)) + readRow(read(value) as SalesOrderDetail);
    }
    return sum;
  };
}
