import { readFileSync } from "node:fs";
import type { KafkaRecord, RegisteredSchema } from "@cdckit/decode";
import protobufjs from "protobufjs";
import { avscTypes } from "./avsc-peer.ts";
import type { Corpus } from "./corpus.ts";

const keyText = 'syntax = "proto3"; message Key { int64 id = 1; }';
/** The envelope as Confluent's converter maps the recorded one, with `optional.for.nullables`. */
const envelopeFile = new URL("../../test/vectors/protobuf/proto/salesorderdetail.proto", import.meta.url);
const decimalText =
  'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }';

export interface ProtobufTypes {
  readonly key: protobufjs.Type;
  readonly envelope: protobufjs.Type;
}

/** The peer's types of the two schemas. */
export function protobufTypes(): ProtobufTypes {
  const root = new protobufjs.Root();
  for (const text of [decimalText, keyText, readFileSync(envelopeFile, "utf8")]) {
    protobufjs.parse(text, root, { keepCase: true });
  }
  root.resolveAll();
  return { key: root.lookupType("Key"), envelope: root.lookupType("Envelope") };
}

/** The same records as Protobuf under Confluent's prefix: no recorded converter wrote them, so the peer does. */
export function protobufCorpus(avro: Corpus): Corpus {
  const types = avscTypes(avro.schemas, [1, 2]);
  const { key, envelope } = protobufTypes();
  const read = (bytes: Uint8Array | null): Record<string, unknown> => {
    const buffer = Buffer.from(bytes ?? []);
    return types.get(buffer.readInt32BE(1))?.fromBuffer(buffer.subarray(5)) as Record<string, unknown>; // a record, as both schemas say
  };
  const records = avro.records.map(
    (record): KafkaRecord => ({
      ...record,
      key: framed(1, key, read(record.key)),
      value: record.value === null ? null : framed(2, envelope, asConverted(read(record.value))),
    }),
  );
  const schemas = [keyText, readFileSync(envelopeFile, "utf8")].map(
    (schema, i): RegisteredSchema => ({ id: i + 1, schemaType: "PROTOBUF", schema }),
  );
  const find = (id: unknown): RegisteredSchema | undefined => schemas.find((schema) => schema.id === id);
  const source: Corpus["schemas"] = {
    peek: find,
    load: (id) => {
      const schema = find(id);
      return schema === undefined ? Promise.reject(new Error(`the corpus has no schema ${id}`)) : Promise.resolve(schema);
    },
  };
  return { name: "confluent-protobuf", records, schemas: source };
}

/** The id, then the path to the first message as one byte. */
function framed(id: number, type: protobufjs.Type, value: object): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0, 0, id, 0]), type.encode(type.fromObject(value)).finish()]);
}

const decimals = new Map([
  ["unitprice", { precision: 19, scale: 4 }],
  ["unitpricediscount", { precision: 19, scale: 4 }],
  ["linetotal", { precision: 38, scale: 6 }],
]);

/** Nulls left out, decimals as messages, longs as the peer takes them. */
function asConverted(value: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([name, part]): [string, unknown][] => {
    if (part === null) {
      return [];
    }
    const decimal = decimals.get(name);
    if (decimal !== undefined) {
      return [[name, { value: part, ...decimal }]];
    }
    const isBlock = typeof part === "object" && !(part instanceof Uint8Array);
    return [[name, isBlock ? asConverted(part as Record<string, unknown>) : typeof part === "bigint" ? String(part) : part]];
  });
  return Object.fromEntries(entries);
}
