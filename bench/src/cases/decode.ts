import { type CdcEvent, createDecoder, type KafkaRecord, type SchemaSource } from "@cdckit/decode";
import { avscTypes } from "../avsc-peer.ts";
import { confluentPeer } from "../confluent-peer.ts";
import { type Corpus, type CorpusName, loadCorpus } from "../corpus.ts";
import { readRow, type SalesOrderDetail } from "../sales-order-detail.ts";
import type { Contender } from "../measure.ts";
import { protobufTypes } from "../protobuf-corpus.ts";

/** One corpus and its decoders: ours, ours with records just made, ours with `source` read, and the peers. */
export interface DecodeCase {
  readonly name: CorpusName;
  readonly ours: Contender;
  readonly oursFresh: Contender;
  readonly oursWithSource: Contender;
  readonly peers: readonly Peer[];
}

export interface Peer extends Contender {
  /** The least that the peer's time may be of ours. */
  readonly target: number;
}

interface PeerPass {
  readonly name: string;
  readonly target: number;
  readonly passOf: (corpus: Corpus) => Contender["pass"] | Promise<Contender["pass"]>;
}

const corpora: readonly { readonly name: CorpusName; readonly peers: readonly PeerPass[] }[] = [
  { name: "json-with-schema", peers: [{ name: "JSON.parse(buffer.toString())", target: 9, passOf: jsonParsePass }] },
  { name: "json", peers: [{ name: "JSON.parse(buffer.toString())", target: 1.5, passOf: jsonParsePass }] },
  {
    name: "confluent-avro",
    peers: [
      { name: "avsc with a BigInt long", target: 3.5, passOf: avscPass },
      { name: "@kafkajs/confluent-schema-registry with a BigInt long", target: 4.5, passOf: confluentPass },
    ],
  },
  {
    name: "confluent-protobuf",
    peers: [
      { name: "protobufjs' toObject(decode()), longs as strings", target: 3, passOf: protobufObjectPass },
      { name: "protobufjs' bare decode()", target: 1, passOf: protobufPass },
    ],
  },
];

export async function decodeCases(): Promise<readonly DecodeCase[]> {
  const cases: DecodeCase[] = [];
  for (const { name, peers } of corpora) {
    const corpus = await loadCorpus(name);
    const messages = corpus.records.length;
    const contenders: Peer[] = [];
    for (const { name: peer, target, passOf } of peers) {
      contenders.push({ name: peer, target, messages, pass: await passOf(corpus) });
    }
    cases.push({
      name,
      ours: ours(corpus, false),
      oursFresh: oursFresh(corpus),
      oursWithSource: ours(corpus, true),
      peers: contenders,
    });
  }
  return cases;
}

/** The public door, one record at a time, with default limits and lossless values. */
function decodingEach(schemas: SchemaSource, readsSource: boolean): (records: readonly KafkaRecord[]) => number {
  const decoder = createDecoder({ schemas });
  return (records) => {
    let sum = 0;
    for (const record of records) {
      sum += readEvent(decoder.decode(record) as readonly CdcEvent[], readsSource);
    }
    return sum;
  };
}

function ours({ records, schemas }: Corpus, readsSource: boolean): Contender {
  const decode = decodingEach(schemas, readsSource);
  return { name: readsSource ? "cdckit, source read" : "cdckit", messages: records.length, pass: () => decode(records) };
}

/** Records that a client hands over together. */
const recordsAtOnce = 50;

/** Each record was looked at shortly before, as by the client that has just made it: it is in the processor's cache, all but its bytes. */
function oursFresh({ records, schemas }: Corpus): Contender {
  const decode = decodingEach(schemas, false);
  const fetches: (readonly KafkaRecord[])[] = [];
  for (let start = 0; start < records.length; start += recordsAtOnce) {
    fetches.push(records.slice(start, start + recordsAtOnce));
  }
  const pass = (): number => fetches.reduce((sum, made) => sum + sumOf(made, lookAt) + decode(made), 0);
  return { name: "cdckit, records just made", messages: records.length, pass };
}

function lookAt({ key, value, headers }: KafkaRecord): number {
  return headers.length + (key?.[0] ?? 0) + (value?.[0] ?? 0);
}

function readEvent([event]: readonly CdcEvent[], readsSource: boolean): number {
  if (event?.kind !== "change" || event.key === null) {
    throw new Error("the corpus holds changes with keys only");
  }
  const source = readsSource ? (event.source.tsMs ?? 0) + (event.source.position["lsn"] === null ? 0 : 1) : 0;
  return (
    event.op.length + event.table.name.length + readKey(event.key) + readRow(event.before as never) + readRow(event.after as never) + source
  );
}

function readKey(key: object): number {
  return (key as { readonly id: number }).id === 0 ? 0 : 1;
}

interface PlainEnvelope {
  readonly op: string;
  readonly source: { readonly table: string };
  readonly before: SalesOrderDetail | null;
  readonly after: SalesOrderDetail | null;
}

function readPlain(key: object, { op, source, before, after }: PlainEnvelope): number {
  return op.length + source.table.length + readKey(key) + readRow(before) + readRow(after);
}

function jsonParsePass({ records, name }: Corpus): () => number {
  const hasSchema = name === "json-with-schema";
  const parse = (bytes: Uint8Array | null): object => {
    const value = JSON.parse((bytes as Buffer).toString()) as { payload: object };
    return hasSchema ? value.payload : value;
  };
  return () => sumOf(records, (record) => readPlain(parse(record.key), parse(record.value) as PlainEnvelope));
}

const payloadStart = 5;

function avscPass({ records, schemas }: Corpus): () => number {
  const types = avscTypes(schemas, [1, 2]);
  const read = (bytes: Uint8Array | null): object => {
    const buffer = bytes as Buffer;
    const type = types.get(buffer.readInt32BE(1));
    return type?.fromBuffer(buffer.subarray(payloadStart)) as object;
  };
  return () => sumOf(records, (record) => readPlain(read(record.key), read(record.value) as PlainEnvelope));
}

/** Its `decode` is asynchronous: one promise a key, and one a value. */
async function confluentPass({ records, schemas }: Corpus): Promise<() => Promise<number>> {
  const decode = await confluentPeer(schemas, [1, 2]);
  return async () => {
    let sum = 0;
    for (const { key, value } of records) {
      sum += readPlain((await decode(key as Buffer)) as object, (await decode(value as Buffer)) as PlainEnvelope);
    }
    return sum;
  };
}

/** Behind the id and the one byte that chooses the first message. */
const protobufStart = 6;

function protobufPass({ records }: Corpus): () => number {
  const types = protobufTypes();
  return () =>
    sumOf(records, ({ key, value }) => {
      const decodedKey: object = types.key.decode((key as Buffer).subarray(protobufStart));
      return readProtobuf(decodedKey, types.envelope.decode((value as Buffer).subarray(protobufStart)) as never);
    });
}

function protobufObjectPass({ records }: Corpus): () => number {
  const types = protobufTypes();
  const options = { longs: String, defaults: true } as const;
  const read = (type: typeof types.key, bytes: Uint8Array | null): object =>
    type.toObject(type.decode((bytes as Buffer).subarray(protobufStart)), options);
  return () => sumOf(records, ({ key, value }) => readProtobuf(read(types.key, key), read(types.envelope, value) as never));
}

/** The peer hands decimals out as messages. */
function readProtobuf(key: object, { op, source, before, after }: PlainEnvelope): number {
  return op.length + source.table.length + readKey(key) + readMessage(before) + readMessage(after);
}

function readMessage(row: SalesOrderDetail | null | undefined): number {
  if (row === null || row === undefined) {
    return 0;
  }
  const lengthOf = (decimal: unknown): number => (decimal as { readonly value: { readonly length: number } }).value.length;
  return (
    lengthOf(row.unitprice) +
    lengthOf(row.unitpricediscount) +
    lengthOf(row.linetotal) +
    (row.id === 0 ? 0 : 1) +
    (row.salesorderid === 0 ? 0 : 1) +
    (row.salesorderdetailid === 0 ? 0 : 1) +
    (row.carriertrackingnumber?.length ?? 0) + // absent, not null, if the peer makes an object of it
    (row.orderqty === 0 ? 0 : 1) +
    (row.productid === 0 ? 0 : 1) +
    (row.specialofferid === 0 ? 0 : 1) +
    row.rowguid.length +
    (row.modifieddate === null ? 0 : 1)
  );
}

function sumOf(records: readonly KafkaRecord[], read: (record: KafkaRecord) => number): number {
  let sum = 0;
  for (const record of records) {
    sum += read(record);
  }
  return sum;
}
