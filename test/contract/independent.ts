import type { KafkaRecord, SchemaSource } from "@cdckit/decode";
import avsc from "avsc";

/** What a recorded message says, read with JSON.parse and avsc alone: nothing here knows our decoder. */
export interface IndependentReading {
  readonly kind: string;
  readonly op: string | null;
  readonly key: unknown;
  readonly before: Row | null;
  readonly after: Row | null;
}

type Row = Readonly<Record<string, unknown>>;

const operations: Readonly<Record<string, string>> = { c: "create", u: "update", d: "delete", r: "read" };

export function independently(record: KafkaRecord, schemas: SchemaSource): IndependentReading {
  const key = record.key === null ? null : payloadOf(record, "key", schemas);
  if (record.value === null) {
    return { kind: "tombstone", op: null, key, before: null, after: null };
  }
  return { key, ...readingOf(payloadOf(record, "value", schemas), record.topic) };
}

function readingOf(value: unknown, topic: string): Omit<IndependentReading, "key"> {
  const row = value as Row;
  const nothing = { op: null, before: null, after: null };
  if (typeof row["op"] === "string" && row["source"] !== undefined) {
    const op = operations[row["op"]];
    const kind = op === undefined ? (row["op"] === "t" ? "truncate" : "message") : "change";
    return { kind, op: op ?? null, before: (row["before"] ?? null) as Row | null, after: (row["after"] ?? null) as Row | null };
  }
  if (topic.endsWith(".transaction")) {
    return { kind: "transaction", ...nothing };
  }
  if (topic.startsWith("__debezium-heartbeat")) {
    return { kind: "heartbeat", ...nothing };
  }
  const meta = Object.keys(row).filter((name) => name.startsWith("__"));
  if (meta.length === 0) {
    return { kind: "row", op: null, before: null, after: null };
  }
  const columns = Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith("__")));
  const op = row["__deleted"] === "true" ? "delete" : (operations[String(row["__op"])] ?? "update");
  return { kind: "change", op, before: op === "delete" ? columns : null, after: op === "delete" ? null : columns };
}

function payloadOf({ topic, headers, ...record }: KafkaRecord, side: "key" | "value", schemas: SchemaSource): unknown {
  const bytes = Buffer.from(record[side] ?? []);
  const header = headers.findLast(([name]) => name === `apicurio.${side}.globalId`)?.[1];
  if (header) {
    return plainly(typeFor(Number(Buffer.from(header).readBigInt64BE(0)), schemas).fromBuffer(bytes));
  }
  if (bytes[0] === 0 && bytes.length > 5) {
    const idLength = topic.startsWith("tan.") ? 8 : 4;
    const id = idLength === 8 ? Number(bytes.readBigInt64BE(1)) : bytes.readInt32BE(1);
    return plainly(typeFor(id, schemas).fromBuffer(bytes.subarray(1 + idLength)));
  }
  const parsed = JSON.parse(bytes.toString("utf8")) as Row;
  return typeof parsed === "object" && parsed !== null && "schema" in parsed && "payload" in parsed ? parsed["payload"] : parsed;
}

const types = new Map<string, avsc.Type>();

function typeFor(id: number, schemas: SchemaSource): avsc.Type {
  const text = schemas.peek(id)?.schema ?? "";
  const known = types.get(text);
  if (known !== undefined) {
    return known;
  }
  const long = avsc.types.LongType.__with({
    fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigInt64LE(value);
      return buffer;
    },
    fromJSON: BigInt,
    toJSON: Number,
    isValid: (value: unknown) => typeof value === "bigint",
    compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
  });
  const type = avsc.Type.forSchema(JSON.parse(text) as avsc.Schema, { registry: { long }, wrapUnions: "never" as unknown as boolean });
  types.set(text, type);
  return type;
}

/** avsc's records have prototypes of their own. */
function plainly(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plainly);
  }
  return typeof value === "object" && value !== null && !Buffer.isBuffer(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainly(item)]))
    : value;
}
