import {
  type Decoder,
  type DecoderOptions,
  isDecodeError,
  type KafkaRecord,
  type RegisteredSchema,
  type SchemaId,
  type SchemaSource,
} from "@cdckit/decode";
import avsc from "avsc";
import { canonical } from "./canonical.ts";
import type { Peer } from "./peer.ts";
import { record as recordOf, sourceOf } from "./vector-seeds.ts";

/**
 * avsc, with exact longs. It is right about what it reads and writes back as the same bytes: of two ways to write a value it knows one, and
 * it lets through what is no UTF-8 and varints without an end.
 */
export function avroPeer(schemas: SchemaSource, decoderFor: (options: DecoderOptions) => Decoder): Peer {
  const bare = new Map<SchemaId, string | null>();
  const types = new Map<string, avsc.Type | null>();
  const decoder = decoderFor({
    schemas: sourceOf((id): RegisteredSchema => ({ id, schemaType: "AVRO", schema: bare.get(id) ?? '"null"' })),
  });
  return ({ value }) => {
    if (value === null || value.length < 6 || value[0] !== 0) {
      return null;
    }
    const bytes = Buffer.from(value);
    const id = bytes.readInt32BE(1);
    const text = bareSchema(id, schemas, bare);
    const type = text === null ? null : typeOf(text, types);
    return type === null ? null : compared(decoder, type, bytes);
  };
}

function compared(decoder: Decoder, type: avsc.Type, bytes: Buffer): string | null {
  const ours = read(decoder, recordOf("avro-peer", 0, bytes));
  const payload = bytes.subarray(5);
  const theirs = readByAvsc(type, payload);
  if (theirs === null) {
    return null; // it refuses more than the specification does: fewer bytes for a count than it could hold, longs in some places
  }
  if (!("value" in ours)) {
    return theirs.isCanonical && ours.code !== "limit-exceeded" ? `avsc reads it and writes it back, we say ${ours.code}` : null;
  }
  const [our, their] = [canonical(plainly(ours.value)), canonical(plainly(theirs.value))];
  return our === their ? null : `avsc reads ${their.slice(0, 700)}\nwe read    ${our.slice(0, 700)}`;
}

/** The schema without what gives its columns meanings, as the one column of a record: which takes no byte. */
function bareSchema(id: number, schemas: SchemaSource, known: Map<SchemaId, string | null>): string | null {
  let text = known.get(id);
  if (text === undefined) {
    const found = id < 1 ? undefined : schemas.peek(id);
    const isReadable = found?.schemaType === "AVRO" && (found.references ?? []).length === 0 && /^[{["]/.test(found.schema);
    text = isReadable ? wrapped(found.schema) : null;
    known.set(id, text);
  }
  return text;
}

function wrapped(schema: string): string {
  const type = JSON.parse(schema, (name, part: unknown) =>
    name === "logicalType" || name.startsWith("connect.") ? undefined : part,
  ) as unknown;
  return JSON.stringify({ type: "record", name: "ns_of_its_own.Peer", fields: [{ name: "f", type }] });
}

function typeOf(text: string, known: Map<string, avsc.Type | null>): avsc.Type | null {
  let type = known.get(text);
  if (type === undefined) {
    try {
      type = avsc.Type.forSchema(JSON.parse(text) as never, { registry: { long }, wrapUnions: "never" } as never);
    } catch {
      type = null; // a schema that it does not take
    }
    known.set(text, type);
  }
  return type;
}

const long = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === "bigint",
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

interface Tap {
  isValid(): boolean;
}

interface Reads {
  _read(tap: Tap): unknown;
}

/** More than any message of the campaign holds. */
const maxItems = 1_000_000;

/**
 * avsc looks for the end of its bytes when it has read a value: an array that says that it has 2^50 items is read until the process ends.
 */
function boundItems(collection: { readonly prototype: unknown }, itemsName: "itemsType" | "valuesType"): void {
  const prototype = collection.prototype as Reads & Record<typeof itemsName, Reads>;
  const { _read: read } = prototype;
  prototype._read = function (this: typeof prototype, tap: Tap): unknown {
    const items = this[itemsName];
    let count = 0;
    const readItem = (): unknown => {
      if (!tap.isValid() || ++count > maxItems) {
        throw new RangeError("more items than bytes");
      }
      return items._read(tap);
    };
    const bounded = Object.create(items, { _read: { value: readItem } }) as Reads;
    return read.call(Object.create(this, { [itemsName]: { value: bounded } }), tap);
  };
}

boundItems(avsc.types.ArrayType, "itemsType");
boundItems(avsc.types.MapType, "valuesType");

function readByAvsc(type: avsc.Type, payload: Buffer): { readonly value: unknown; readonly isCanonical: boolean } | null {
  try {
    const value: unknown = type.fromBuffer(payload);
    return { value: (value as { f: unknown }).f, isCanonical: type.toBuffer(value).equals(payload) };
  } catch {
    return null;
  }
}

function read(decoder: Decoder, record: KafkaRecord): { readonly value: unknown } | { readonly code: string } {
  try {
    const [event] = decoder.decode(record) as readonly { toObject(): Record<string, unknown> }[];
    const row = event?.toObject()["row"] as Record<string, unknown>;
    return { value: row["f"] };
  } catch (error) {
    return { code: isDecodeError(error) ? error.code : "another error" };
  }
}

/** Longs as one type, avsc's records without their prototypes, and the placeholder as what it is written. */
function plainly(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (typeof value === "symbol") {
    return "__debezium_unavailable_value";
  }
  if (typeof value !== "object" || value === null) {
    return Object.is(value, -0) ? -0 : value;
  }
  if (value instanceof Uint8Array) {
    const text = Buffer.from(value).toString("latin1");
    return text === "__debezium_unavailable_value" ? text : value;
  }
  return Array.isArray(value) ? value.map(plainly) : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainly(item)]));
}
