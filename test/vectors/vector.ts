import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type DecoderOptions,
  type KafkaRecord,
  type RegisteredSchema,
  SchemaChangeLearner,
  type SchemaSource,
  UNAVAILABLE,
} from "@cdckit/decode";
import { recordOf, type WrittenBytes } from "@cdckit/testkit";
import { linesOf } from "./lines.ts";

/** One line of a vector file: a record, and what decoding it must give. `README.md` explains it. */
export interface Vector {
  readonly name: string;
  /** Where the bytes or the rule come from. */
  readonly from: string;
  /** The program and its version that wrote these bytes; without it they were written by hand, after what `from` names. */
  readonly writtenBy?: string;
  /** Whose published messages these are, where the producer's version is not known. */
  readonly publishedIn?: string;
  /** The value's framing, encoding and envelope, joined by "+"; the framing alone where it does not decode. */
  readonly formats?: string;
  /** The key's framing and encoding. */
  readonly keyFormats?: string;
  readonly topic?: string;
  readonly headers?: readonly (readonly [string, WrittenBytes | null])[];
  readonly key?: WrittenBytes | null;
  readonly value: WrittenBytes | null;
  /** Values of records of the same topic that are decoded before, to show that what they teach does no harm. */
  readonly seenBefore?: readonly (WrittenBytes | null)[];
  readonly schemas?: readonly { readonly id: number | string; readonly schema: unknown; readonly schemaType?: RegisteredSchema["schemaType"] }[];
  readonly options?: Pick<DecoderOptions, "values" | "topics" | "limits">;
  /** Whether the decoder learns from schema changes; said of the first record of a topic. */
  readonly learnsSchemaChanges?: true;
  /** Fields of the one event, each compared exactly; `source` and `record` by the fields that are stated. */
  readonly event?: Readonly<Record<string, unknown>>;
  /** The fields of each event, where the record gives another number of them than one. */
  readonly events?: readonly Readonly<Record<string, unknown>>[];
  /** The code of the `DecodeError`, and what its message must name. */
  readonly error?: { readonly code: string; readonly names?: readonly string[] };
}

/** Every vector of every file in the folder: dropping a file there adds its tests. */
export function vectorFiles(name: "decode" | "envelope" | "topics"): readonly { readonly file: string; readonly vectors: readonly Vector[] }[] {
  const folder = join(import.meta.dirname, name);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ndjson"))
    .map((file) => ({ file, vectors: linesOf<Vector>(join(name, file)) }));
}

export function vectorRecord(vector: Vector, value: WrittenBytes | null = vector.value): KafkaRecord {
  return recordOf(value, { topic: vector.topic ?? "inv.orders", partition: 3, offset: 41n, timestamp: 1_700_000_000_000n, key: vector.key ?? null, headers: vector.headers ?? [] });
}

/** A decoder's options for the vector, its schemas at hand. */
export function optionsOf(vector: Vector): DecoderOptions {
  const schemas = new Map<string, RegisteredSchema>();
  for (const { id, schema, schemaType = "AVRO" } of vector.schemas ?? []) {
    schemas.set(String(id), { id, schemaType, schema: typeof schema === "string" ? schema : JSON.stringify(schema) });
  }
  const source: SchemaSource = {
    peek: (id) => schemas.get(String(id)),
    load: (id) => Promise.reject(Object.assign(new Error(`there is no schema ${id}`), { code: "not-found" })),
  };
  return {
    ...vector.options,
    ...(vector.schemas === undefined ? {} : { schemas: source }),
    ...(vector.learnsSchemaChanges === true ? { learn: { schemaChanges: new SchemaChangeLearner() } } : {}),
  };
}

/** What JSON has no value for, as vectors write it. */
export function expected(written: unknown): unknown {
  if (Array.isArray(written)) {
    return written.map(expected);
  }
  if (typeof written !== "object" || written === null) {
    return written;
  }
  const [[tag, text] = ["", ""], ...more] = Object.entries(written);
  const make = more.length === 0 ? tags.get(tag) : undefined;
  return make === undefined
    ? Object.fromEntries(Object.entries(written).map(([name, item]) => [name, expected(item)]))
    : make(text as never);
}

const tags: ReadonlyMap<string, (text: never) => unknown> = new Map<string, (text: never) => unknown>([
  ["$bigint", (digits: string) => BigInt(digits)],
  ["$number", (text: string) => Number(text)],
  ["$bytes", (hex: string) => Buffer.from(hex, "hex")],
  ["$map", (pairs: readonly unknown[]) => new Map(expected(pairs) as [unknown, unknown][])],
  ["$unavailable", () => UNAVAILABLE],
]);
