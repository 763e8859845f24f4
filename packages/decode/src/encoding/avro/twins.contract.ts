/** Shared by the tests of this folder: both readers of a schema, an encoder for hand-made bytes, and avsc as an independent reader. */
import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Type as AvscType, types as avscTypes, type Schema } from "avsc";
import { expect } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { type DecodeLimits, resolveLimits, resolveValueOptions, type ValueOptions } from "../../options.ts";
import { type CompileOptions, type PayloadReader, readEverything, type ReadPlan } from "../reader.ts";
import type { Type } from "../type.ts";
import { compileAvroReader } from "./reader.ts";
import { parseAvroSchema } from "./schema.ts";

export interface TwinOptions {
  readonly values?: ValueOptions;
  readonly limits?: DecodeLimits;
  readonly plan?: ReadPlan;
}

/** The two readers of one schema: generated code and closures. */
export function twins(type: Type, { values, limits, plan = readEverything }: TwinOptions = {}): readonly [PayloadReader, PayloadReader] {
  const options: CompileOptions = { values: resolveValueOptions(values), limits: resolveLimits(limits), plan, codeGeneration: true };
  return [compileAvroReader(type, options), compileAvroReader(type, { ...options, codeGeneration: false })];
}

export function avroType(schema: unknown): Type {
  return parseAvroSchema(JSON.stringify(schema), [], resolveLimits());
}

/** The result of a reader: a value, or the code of its error. An error other than a DecodeError fails the test. */
export type Outcome = { readonly value: unknown } | { readonly code: string };

export function outcomeOf(read: () => unknown): Outcome {
  return attempt(read).outcome;
}

/** The result of a reader, and the field that its error names. */
function attempt(read: () => unknown): { readonly outcome: Outcome; readonly path: string | undefined } {
  try {
    return { outcome: { value: read() }, path: undefined };
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return { outcome: { code: error.code }, path: error.path };
  }
}

/** The result of both readers, which must be the same. Other bytes stand before and after the payload; the readers must not read them. */
export function readBoth(readers: readonly [PayloadReader, PayloadReader], bytes: Uint8Array): Outcome {
  const batch = Buffer.concat([Buffer.alloc(7, 0x02), bytes, Buffer.alloc(40, 0x02)]);
  const [generated, closures] = readers;
  const one = attempt(() => generated.read(batch, 7, 7 + bytes.length));
  const other = attempt(() => closures.read(batch, 7, 7 + bytes.length));
  expectSameOutcome(one.outcome, other.outcome);
  expect(one.path).toBe(other.path);
  return one.outcome;
}

/** Compares two results. Equal codes skip the matcher, which would take too long for a hundred thousand of them. */
export function expectSameOutcome(one: Outcome, other: Outcome): void {
  if (!("code" in one && "code" in other && one.code === other.code)) {
    expect(one).toStrictEqual(other);
  }
}

/** A long as Avro writes it. */
export function long(value: bigint | number): Buffer {
  const signed = BigInt(value);
  let bits = BigInt.asUintN(64, (signed << 1n) ^ (signed >> 63n));
  const bytes: number[] = [];
  while (bits >= 0x80n) {
    bytes.push(Number(bits & 0x7fn) | 0x80);
    bits >>= 7n;
  }
  return Buffer.from([...bytes, Number(bits)]);
}

export function text(value: string): Buffer {
  return sized(Buffer.from(value));
}

export function sized(value: Uint8Array): Buffer {
  return Buffer.concat([long(value.length), value]);
}

const bigintLong = avscTypes.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === "bigint" && BigInt.asIntN(64, value) === value,
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

/** The same schema as a type of avsc, with longs as bigint (also if the schema writes a long as an object). */
export function avscTypeOf(schema: unknown): AvscType {
  return AvscType.forSchema(
    schema as Schema,
    {
      wrapUnions: "never",
      typeHook: (part: unknown) => (part === "long" || (part as { type?: unknown }).type === "long" ? bigintLong : undefined),
    } as never,
  ); // avsc's TypeScript types lack this option
}

const recordings = new URL("../../../../testkit/recordings/", import.meta.url);

export interface RecordedPayload {
  readonly name: string;
  readonly schemaId: number;
  readonly payload: Buffer;
}

/** Every Avro payload of a folder of recordings, keys and values. */
export function recordedAvro(folder: string): { schemas: ReadonlyMap<number, string>; payloads: readonly RecordedPayload[] } {
  const lines = (name: string): Record<string, unknown>[] => {
    const bytes = readFileSync(new URL(`${folder}/${name}`, recordings));
    const content = name.endsWith(".gz") ? gunzipSync(bytes) : bytes;
    return content
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>); // one object a line
  };
  const schemas = new Map(lines("schemas.ndjson").map(({ id, schema }) => [id as number, schema as string]));
  const names = readdirSync(new URL(folder, recordings)).filter((name) => /^(tav\.|__debezium-heartbeat\.tav|confluent-avro)/.test(name));
  const payloads = names.flatMap((name) =>
    lines(name).flatMap((record) =>
      [record["key"], record["value"]]
        .filter((side) => typeof side === "string")
        .map((side) => Buffer.from(side, "base64"))
        .map((bytes) => ({ name, schemaId: bytes.readUInt32BE(1), payload: bytes.subarray(5) })),
    ),
  );
  return { schemas, payloads };
}

/** A value in avsc's form: plain objects on every level, and without the field `__proto__`, which avsc loses. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) {
    return value instanceof Uint8Array ? Buffer.from(value) : value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "__proto__")
      .map(([name, part]) => [name, plain(part)]),
  );
}

/** The schema without semantics, so that values come out as they were sent. */
export function withoutMeaning(schema: string): unknown {
  return JSON.parse(schema, (name, part: unknown) =>
    ["connect.name", "connect.parameters", "connect.internal.type", "logicalType"].includes(name) ? undefined : part,
  );
}
