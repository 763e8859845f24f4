import type { KafkaRecord, RegisteredSchema } from "@cdckit/decode";
import avro from "avsc";

/** What people decode with today: reads key and value of a record, with nothing of ours. */
export interface Peer {
  readonly name: string;
  read(record: Pick<KafkaRecord, "key" | "value">): void;
}

/** The rows that a reader of change events wants; reading them is part of the work. */
interface Envelope {
  readonly op?: unknown;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** `JSON.parse(buffer.toString())` of key and value; a `payload` is followed if there is one. */
export const jsonPeer: Peer = {
  name: "JSON.parse(buffer.toString())",
  read(record) {
    readJson(record.key);
    readEnvelope(readJson(record.value));
  },
};

/** The text of a registered schema, if it is at hand. */
export type SchemaLookup = (id: number) => string | undefined;

/** avsc with BigInt longs, without which it throws on every change event of a current Debezium. Each schema's type is made once. */
export function createAvscPeer(schemas: Iterable<RegisteredSchema>): Peer {
  const byId = new Map([...schemas].map(({ id, schema }) => [Number(id), schema]));
  return avscPeer((id) => byId.get(id));
}

/** The same with schemas from anywhere. A message whose schema is not at hand is an error of its own. */
export function avscPeer(schemaOf: SchemaLookup): Peer {
  const types = new Map<number, avro.Type>();
  const typeOf = (id: number): avro.Type => {
    const found = types.get(id) ?? avro.Type.forSchema(JSON.parse(schemaText(schemaOf, id)) as avro.Schema, { typeHook: bigintLongs });
    types.set(id, found);
    return found;
  };
  const read = (bytes: Uint8Array | null): unknown => {
    if (bytes === null) {
      return null;
    }
    const buffer = bytes as Buffer;
    return typeOf(buffer.readInt32BE(1)).fromBuffer(buffer.subarray(5));
  };
  return {
    name: "avsc, BigInt longs",
    read(record) {
      read(record.key);
      readEnvelope(read(record.value));
    },
  };
}

function schemaText(schemaOf: SchemaLookup, id: number): string {
  const text = schemaOf(id);
  if (text === undefined) {
    throw new Error(`the schema ${id} is not at hand`);
  }
  return text;
}

function readJson(bytes: Uint8Array | null): unknown {
  if (bytes === null) {
    return null;
  }
  const value = JSON.parse((bytes as Buffer).toString()) as { readonly payload?: unknown } | null;
  return value?.payload === undefined ? value : value.payload;
}

function readEnvelope(value: unknown): void {
  const envelope = value as Envelope | null | undefined;
  void envelope?.op;
  void envelope?.before;
  void envelope?.after;
}

const bigintLong = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === "bigint",
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
});

/** Catches both spellings: a bare `"long"`, and the `{"type": "long", "connect.name": ...}` that Connect writes. */
function bigintLongs(schema: unknown): avro.Type | undefined {
  const type = typeof schema === "string" ? schema : (schema as { readonly type?: unknown }).type;
  return type === "long" ? bigintLong : undefined;
}
