import { createRequire } from "node:module";
import type { Message } from "kafkajs";
import { expect, test } from "vitest";
import { toMessage } from "./outgoing.ts";

interface Bytes {
  readInt8(): number;
  readVarInt(): number;
  readVarLong(): bigint;
  readVarIntBytes(): Buffer | null;
  readVarIntArray<Item>(read: (bytes: Bytes) => Item): readonly Item[];
}

const require = createRequire(import.meta.url);
const encodeRecord = require("kafkajs/src/protocol/recordBatch/record/v0/index.js") as (record: object) => { readonly buffer: Buffer };
const Decoder = require("kafkajs/src/protocol/decoder.js") as new (bytes: Buffer) => Bytes;
const readHeader = require("kafkajs/src/protocol/recordBatch/header/v0/decoder.js") as (bytes: Bytes) => { key: string; value: Buffer };

/** The names and values that kafkajs writes for a message. */
function writtenHeaders({ key, value, headers }: Message): readonly (readonly [name: string, value: string])[] {
  const bytes = new Decoder(encodeRecord({ key, value, headers }).buffer);
  bytes.readVarInt(); // length
  bytes.readInt8(); // attributes
  bytes.readVarLong(); // timestamp
  bytes.readVarInt(); // offset
  bytes.readVarIntBytes(); // key
  bytes.readVarIntBytes(); // value
  return bytes.readVarIntArray(readHeader).map((header) => [header.key, header.value.toString()]);
}

test.each([[[]], [["a", "b"]], [["a", "a"]], [["a", "b", "c", "a", "d", "b"]]])(
  "kafkajs writes headers in their order, also if a name comes again: %j",
  (names: readonly string[]) => {
    const headers = names.map((name, nth) => [name, String(nth)] as const);
    const given = headers.map(([name, text]) => [name, Buffer.from(text)] as const);
    expect(writtenHeaders(toMessage({ topic: "t", key: null, value: null, headers: given }))).toEqual(headers);
  },
);
