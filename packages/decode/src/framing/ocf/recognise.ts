import { isUtf8 } from "node:buffer";
import { DecodeError } from "../../errors.ts";
import type { Frame, Framing, Message } from "../framing.ts";
import { inlineSchema } from "../inline-schema.ts";
import { readZigZag, type Varint } from "../varint.ts";
import { longAt, readBlocks, truncated } from "./blocks.ts";

const magic: Buffer = Buffer.from("Obj\u0001", "latin1");
const syncLength = 16;

/**
 * An Avro container file: `4F 62 6A 01 | meta: map of bytes | sync marker: 16 bytes | blocks`. It holds its schema and any number of
 * values. https://avro.apache.org/docs/1.12.0/specification/#object-container-files
 */
export const ocf: Framing = {
  name: "ocf",
  headerNames: [],
  recognise: ({ bytes, start, end }) =>
    end - start >= magic.length && bytes.compare(magic, 0, magic.length, start, start + magic.length) === 0
      ? "bytes 4F 62 6A 01, an Avro container file"
      : null,
  open,
  prefixes: [magic],
};

function open({ bytes, start, end, maxBytes }: Message): Frame {
  const { schema, codec, next } = readMeta(bytes, start + magic.length, end);
  if (schema === null || !isUtf8(schema)) {
    throw new DecodeError(
      "malformed",
      "expected an Avro container file to hold avro.schema in UTF-8, found none; check what wrote the file",
    );
  }
  if (next + syncLength > end) {
    throw truncated("the sync marker");
  }
  const header = { codec, sync: bytes.subarray(next, next + syncLength), next: next + syncLength };
  return { schemaId: null, schema: inlineSchema("AVRO", schema), payloads: readBlocks(bytes, header, end, maxBytes) };
}

interface Meta {
  readonly schema: Buffer | null;
  readonly codec: string;
  readonly next: number;
}

/** meta => (count: long, entries)* 0. If the count is negative, the size of the entries in bytes follows it. */
function readMeta(bytes: Buffer, at: number, end: number): Meta {
  let schema: Buffer | null = null;
  let codec = "null";
  for (;;) {
    const count = readZigZag(bytes, at, end);
    if (count === null) {
      throw truncated("the meta data");
    }
    at = count.value < 0 ? longAt(bytes, count.next, end, "the size of the meta data").next : count.next;
    if (count.value === 0) {
      return { schema, codec, next: at };
    }
    for (let left = Math.abs(count.value); left > 0; left--) {
      const nameLength = lengthAt(bytes, at, end, "a name of the meta data");
      const nameEnd = nameLength.next + nameLength.value;
      const value = lengthAt(bytes, nameEnd, end, "a value of the meta data");
      at = value.next + value.value;
      if (isNamed(bytes, nameLength.next, nameEnd, schemaName)) {
        schema = bytes.subarray(value.next, at);
      } else if (isNamed(bytes, nameLength.next, nameEnd, codecName)) {
        codec = bytes.toString("latin1", value.next, at);
      }
    }
  }
}

/** The length of a name or a value. Throws if the bytes end before the name or value does. */
function lengthAt(bytes: Buffer, at: number, end: number, what: string): Varint {
  const length = longAt(bytes, at, end, `the length of ${what}`);
  if (length.next + length.value > end) {
    throw truncated(what);
  }
  return length;
}

const schemaName: Buffer = Buffer.from("avro.schema");
const codecName: Buffer = Buffer.from("avro.codec");

function isNamed(bytes: Buffer, start: number, end: number, name: Buffer): boolean {
  return end - start === name.length && bytes.compare(name, 0, name.length, start, end) === 0;
}
