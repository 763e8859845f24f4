/**
 * Shared by the tests of this folder: both readers of a message, an encoder for hand-made bytes, and protobufjs as an independent reader.
 */
import protobufjs from "protobufjs";
import { expect } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { type DecodeLimits, resolveLimits, resolveValueOptions, type ValueOptions } from "../../options.ts";
import type { MessageSelector, SchemaReference } from "../../schema-source.ts";
import type { Semantic } from "../../values/conversion.ts";
import { type CompileOptions, type PayloadReader, readEverything, type ReadPlan } from "../reader.ts";
import type { ParsedSchema } from "../schema-encoding.ts";
import { protobuf } from "./encoding.ts";

export interface TwinOptions {
  readonly values?: ValueOptions;
  readonly limits?: DecodeLimits;
  readonly plan?: ReadPlan;
  readonly columns?: ReadonlyMap<string, Semantic>;
  readonly message?: MessageSelector;
  readonly references?: readonly SchemaReference[];
}

export type Twins = readonly [generated: PayloadReader, closures: PayloadReader];

export function parseProto(schema: string, references: readonly SchemaReference[] = []): ParsedSchema {
  return protobuf.parse({ id: 1, schemaType: "PROTOBUF", schema, references }, resolveLimits());
}

/** The two readers of one message: generated code and closures. */
export function twins(schema: string, options: TwinOptions = {}): Twins {
  const { values, limits, plan = readEverything, columns = new Map(), message = null, references = [] } = options;
  const parsed = parseProto(schema, references);
  const compile: CompileOptions = {
    values: resolveValueOptions(values),
    limits: resolveLimits(limits),
    plan,
    columns,
    codeGeneration: true,
  };
  return [parsed.compile(message, compile), parsed.compile(message, { ...compile, codeGeneration: false })];
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
export function readBoth(readers: Twins, bytes: Uint8Array): Outcome {
  const batch = Buffer.concat([Buffer.alloc(7, 0x08), bytes, Buffer.alloc(40, 0x08)]);
  const [generated, closures] = readers;
  const { outcome, path } = attempt(() => generated.read(batch, 7, 7 + bytes.length));
  const { outcome: other, path: otherPath } = attempt(() => closures.read(batch, 7, 7 + bytes.length));
  expect(path).toBe(otherPath);
  if (!("code" in outcome && "code" in other && outcome.code === other.code)) {
    expect(outcome).toStrictEqual(other);
  }
  return outcome;
}

/** The value that both readers give. */
export function valueOf(readers: Twins, bytes: Uint8Array): unknown {
  const outcome = readBoth(readers, bytes);
  expect(outcome).toHaveProperty("value");
  return "value" in outcome ? outcome.value : undefined;
}

/** A message of proto3 with these fields. */
export function proto3(fields: string, more = ""): string {
  return `syntax = "proto3"; message M { ${fields} } ${more}`;
}

export function varint(value: bigint | number): Buffer {
  let bits = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (bits >= 0x80n) {
    bytes.push(Number(bits & 0x7fn) | 0x80);
    bits >>= 7n;
  }
  return Buffer.from([...bytes, Number(bits)]);
}

/** The bytes of a field: a varint, or bytes after their length. */
export function field(number: number, value: bigint | number | Uint8Array | string): Buffer {
  if (typeof value === "number" || typeof value === "bigint") {
    return Buffer.concat([varint(number * 8), varint(value)]);
  }
  const bytes = Buffer.from(value as Uint8Array); // a text becomes its UTF-8
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function group(number: number, ...content: readonly Uint8Array[]): Buffer {
  return Buffer.concat([varint(number * 8 + 3), ...content, varint(number * 8 + 4)]);
}

export function joined(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}

/** The same message as a type of protobufjs. */
export function peerType(schema: string, name: string): protobufjs.Type {
  return protobufjs.parse(schema, new protobufjs.Root(), { keepCase: true }).root.lookupType(name);
}

/** A value in protobufjs' form: plain objects on every level, and without nulls. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) {
    return value instanceof Uint8Array ? Buffer.from(value) : value;
  }
  const entries = value instanceof Map ? [...value].map(([key, part]) => [String(key), part]) : Object.entries(value);
  return Object.fromEntries(entries.filter(([, part]) => part !== null).map(([name, part]) => [name, plain(part)]));
}
