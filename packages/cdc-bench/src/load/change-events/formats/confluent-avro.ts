import avro from "avsc";
import { type ChangeFormat, confluentPrefix, idsFor, type NeededSchema, type TakeBytes } from "../change-format.ts";
import type { ChangeSource } from "../change-stream.ts";
import { connectEnvelopeSchema, connectKeySchema } from "../connect-schema.ts";
import { avroSchemaOf } from "./avro-schema.ts";

/** Confluent's Avro converter, by avsc. */
export const confluentAvro: ChangeFormat = {
  name: "confluent-avro",
  title: "Confluent Avro",
  schemas: schemasOf,
  createEncoder(source, ids, takeBytes = Buffer.allocUnsafe) {
    const found = idsFor("confluent-avro", ids);
    const [key, value] = schemasOf(source).map(({ schema }) =>
      avro.Type.forSchema(JSON.parse(schema) as avro.Schema, { typeHook: longs }),
    ) as [avro.Type, avro.Type];
    return { key: writerOf(key, found.key, takeBytes), value: writerOf(value, found.value, takeBytes) };
  },
};

function schemasOf(source: ChangeSource): readonly NeededSchema[] {
  const schema = (part: "key" | "value"): NeededSchema => {
    const connect = part === "key" ? connectKeySchema(source) : connectEnvelopeSchema(source);
    return { part, schemaType: "AVRO", schema: JSON.stringify(avroSchemaOf(connect)) };
  };
  return [schema("key"), schema("value")];
}

const firstScratchBytes = 4_096;

/** Encodes into one buffer, again and again, and copies what came of it. */
function writerOf(type: avro.Type, id: number, takeBytes: TakeBytes): (value: unknown) => Buffer {
  const prefix = confluentPrefix(id);
  let scratch = Buffer.alloc(firstScratchBytes);
  prefix.copy(scratch);
  return (value) => {
    let end = type.encode(value, scratch, prefix.length);
    if (end < 0) {
      // avsc says so how many bytes were missing.
      scratch = Buffer.alloc(scratch.length * 2 - end);
      prefix.copy(scratch);
      end = type.encode(value, scratch, prefix.length);
    }
    const bytes = takeBytes(end);
    scratch.copy(bytes, 0, 0, end);
    return bytes;
  };
}

const maxVarintBytes = 10;
const varint = Buffer.alloc(maxVarintBytes);

/** Longs from numbers and bigints. avsc's own refuses whatever a double cannot hold, such as nanoseconds since 1970. */
const anyLong = avro.types.LongType.__with(
  {
    toBuffer: (value: number | bigint) => varint.subarray(0, writeZigzag(value)),
    fromBuffer: (bytes: Buffer) => bytes,
    fromJSON: BigInt,
    toJSON: String,
    isValid: (value: unknown) => typeof value === "bigint" || Number.isSafeInteger(value),
    compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
  },
  true, // packed: what toBuffer gives is written as it is
);

function longs(schema: unknown): avro.Type | undefined {
  const type = typeof schema === "string" ? schema : (schema as { readonly type?: unknown }).type;
  return type === "long" ? anyLong : undefined;
}

/** Writes into `varint`, and says how many bytes. Bigints are slow, so only what a double cannot hold is written by them. */
function writeZigzag(value: number | bigint): number {
  return typeof value === "number" && value >= 0 ? writeNumber(value) : writeBigint(BigInt(value));
}

function writeNumber(value: number): number {
  let at = 0;
  let rest = 2 * value; // exact: doubling needs no further digit
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) {
    varint[at++] = (rest % 128) | 0x80;
  }
  varint[at++] = rest;
  return at;
}

function writeBigint(value: bigint): number {
  const long = BigInt.asIntN(64, value);
  let bits = BigInt.asUintN(64, (long << 1n) ^ (long >> 63n));
  let at = 0;
  for (; bits >= 0x80n; bits >>= 7n) {
    varint[at++] = Number(bits & 0x7fn) | 0x80;
  }
  varint[at++] = Number(bits);
  return at;
}
