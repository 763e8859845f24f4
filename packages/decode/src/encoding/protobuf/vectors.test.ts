import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { confluentChoices } from "../../framing/confluent/message-indexes.ts";
import type { MessageSelector, RegisteredSchema } from "../../schema-source.ts";
import { type Twins, parseProto, plain, twins, valueOf } from "./twins.contract.ts";

/** A message that Confluent's serializer wrote (`scripts/vectors/write_protobuf.py`), and what Google's json_format reads it as. */
interface Vector {
  readonly name: string;
  readonly schemaId: number;
  /** The same schema as the text that protoc read. */
  readonly textId: number;
  readonly message: string;
  readonly value: string;
  readonly json: Readonly<Record<string, unknown>>;
}

function lines<Line>(name: string): readonly Line[] {
  const url = new URL(`../../../../../test/vectors/protobuf/${name}.ndjson`, import.meta.url);
  const text = readFileSync(url, "utf8").trim();
  return text.split("\n").map((line) => JSON.parse(line) as Line); // one object a line
}

const schemas = new Map(lines<RegisteredSchema>("schemas").map((schema) => [schema.id, schema]));
const vectors = lines<Vector>("messages");

function schemaOf(id: number): RegisteredSchema {
  const schema = schemas.get(id);
  if (schema === undefined) {
    throw new Error(`the vectors have no schema ${id}`);
  }
  return schema;
}

/** The first of the selected messages that the schema has, as the decoder chooses it. */
function chosen({ schema, references }: RegisteredSchema, bytes: Buffer): { message: MessageSelector; payload: Buffer } {
  const parsed = parseProto(schema, references);
  for (const { message, length } of confluentChoices(bytes, 5, bytes.length)) {
    if (parsed.typeOf(message) !== null) {
      return { message, payload: bytes.subarray(5 + length) };
    }
  }
  throw new Error("the schema has none of the messages that the indexes may mean");
}

function readersOf({ schema, references = [] }: RegisteredSchema, message: MessageSelector): Twins {
  return twins(schema, { message, references, values: { int64: "string" } });
}

/** What json_format gives, in the form of our values. */
function meaning(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => meaning(item));
  }
  if (typeof value === "string") {
    return inOurWords(value, name);
  }
  if (typeof value === "number") {
    return name === "ratio" ? Math.fround(value) : value;
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const parts = value as Record<string, never>; // an object of JSON
  if ("precision" in parts) {
    return decimalText(Buffer.from(parts["value"] ?? "", "base64"), parts["scale"] ?? 0);
  }
  if (name === "day") {
    return [digits(parts["year"], 4), digits(parts["month"], 2), digits(parts["day"], 2)].join("-");
  }
  if (name === "time") {
    const nanos = digits(parts["nanos"], 9).replace(/0+$/, "");
    return `${digits(parts["hours"], 2)}:${digits(parts["minutes"], 2)}:${digits(parts["seconds"], 2)}${nanos === "" ? "" : `.${nanos}`}`;
  }
  return Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, meaning(part, key)]));
}

function inOurWords(text: string, name: string): string {
  switch (name) {
    case "at":
      return text.replace(/(\.\d*?)0+Z$/, "$1Z");
    case "took":
      return `PT${text.replace(/(\.\d*?)0+s$/, "$1s").toUpperCase()}`;
    default:
      return text;
  }
}

function digits(value: number | undefined, width: number): string {
  return String(value ?? 0).padStart(width, "0");
}

function decimalText(unscaled: Buffer, scale: number): string {
  const value = BigInt.asIntN(unscaled.length * 8, BigInt(`0x${unscaled.toString("hex")}`));
  const text = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  return `${value < 0n ? "-" : ""}${text.slice(0, text.length - scale)}.${text.slice(text.length - scale)}`;
}

/** Our values in the form of JSON. */
function sayable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(plain(value))) as unknown;
}

function withBase64(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return Buffer.from(value).toString("base64");
  }
  if (Array.isArray(value)) {
    return value.map(withBase64);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withBase64(part)]))
    : value;
}

describe("messages that Confluent's serializer wrote", () => {
  for (const { name, schemaId, textId, message, value, json } of vectors) {
    test(`${name}: by its descriptor and by its text`, () => {
      const bytes = Buffer.from(value, "base64");
      for (const schema of [schemaOf(schemaId), schemaOf(textId)]) {
        const { message: selected, payload } = chosen(schema, bytes);
        expect(parseProto(schema.schema, schema.references).typeOf(selected)).toMatchObject({ name: message });
        const read = valueOf(readersOf(schema, selected), payload);
        // json_format omits null, except in google.protobuf.Value; an absent field with a declared default has that default.
        const { extra, ...rest } = withBase64(plain(read)) as Record<string, unknown>;
        const { extra: expectedExtra, ...expected } = meaning(json) as Record<string, unknown>;
        expect(rest).toEqual(message === "Old" ? withDefaults(expected) : expected);
        expect(sayable(extra ?? null)).toEqual(sayable(expectedExtra ?? null));
      }
    });
  }
});

/** json_format leaves absent fields with presence out, even if they have a default. */
function withDefaults(json: Record<string, unknown>): Record<string, unknown> {
  const many = (json["many"] as readonly Record<string, unknown>[]).map((group) => ({ b: "\u00e9", ...group }));
  return { absent: "-9223372036854775808", ...json, many };
}
