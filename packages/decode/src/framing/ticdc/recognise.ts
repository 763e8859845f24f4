import { DecodeError } from "../../errors.ts";
import type { Framing, Message, Payload } from "../framing.ts";

/**
 * TiCDC's open protocol, which packs documents: `(length: uint64, big-endian | JSON)*`, with the version (1, as a uint64) before them on the
 * key side. Key and value have as many documents as each other; an event without a value has an empty one.
 */
export const ticdc: Framing = {
  name: "ticdc",
  headerNames: [],
  recognise: (message) => {
    if (payloadsOf(message) === null) {
      return null;
    }
    const lengths = "lengths in eight bytes each that lead from JSON object to JSON object and end with the message";
    return message.side === "key" ? `version 1 in eight bytes, then ${lengths}` : lengths;
  },
  open: (message) => {
    const payloads = payloadsOf(message);
    if (payloads === null) {
      throw new DecodeError("malformed", "expected TiCDC's documents behind their lengths, found lengths that lead elsewhere");
    }
    if (payloads.length > mostDocuments) {
      throw new DecodeError("limit-exceeded", `expected at most ${mostDocuments} documents in a TiCDC message, found ${payloads.length}`);
    }
    return { schemaId: null, payloads };
  },
};

/** TiCDC's `max-batch-size` is 16 unless somebody raises it. */
const mostDocuments = 8_192;
const lengthBytes = 8;
const openBrace = 0x7b;

/** What stands for an event without a value, so that it is read and opened like the others. */
const emptyDocument = Buffer.from("{}");

/**
 * The documents, or null where the bytes are no such message. Lengths that add up exactly are no coincidence; an event without a value is
 * alone in its message.
 */
function payloadsOf({ side, bytes, start, end }: Message): readonly Payload[] | null {
  const first = side === "key" ? behindVersion(bytes, start, end) : start;
  if (side === "value" && end - start === lengthBytes && lengthAt(bytes, start) === 0) {
    return [{ bytes: emptyDocument, start: 0, end: emptyDocument.length, count: 1 }];
  }
  const payloads: Payload[] = [];
  for (let at = first; at < end; ) {
    const documentStart = at + lengthBytes;
    const length = documentStart > end ? null : lengthAt(bytes, at);
    if (length === null || length > end - documentStart || bytes[documentStart] !== openBrace) {
      return null;
    }
    at = documentStart + length;
    payloads.push({ bytes, start: documentStart, end: at, count: 1 });
  }
  return payloads.length === 0 ? null : payloads;
}

/** Where the documents of a key begin: nowhere, if its version is not 1. */
function behindVersion(bytes: Buffer, start: number, end: number): number {
  return end - start > lengthBytes && lengthAt(bytes, start) === 1 ? start + lengthBytes : end;
}

/** Null where the length is beyond any message. */
function lengthAt(bytes: Buffer, at: number): number | null {
  return bytes.readUInt32BE(at) === 0 ? bytes.readUInt32BE(at + 4) : null;
}
