import { DecodeError } from "../../errors.ts";
import type { Frame, Framing, Message, Payload } from "../framing.ts";

/**
 * The most documents in a short message. TiCDC's `max-batch-size` is 16 by default, and users may raise it. The limit is needed because
 * each document may have its own shape, and a new shape costs more than the bytes of the document suggest.
 */
const maxInShort = 1_024;
/** Longer messages may have more documents: one for so many bytes. */
const minAverage = 1_024;
const lengthBytes = 8;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const backslash = 0x5c;

const maxwellStart = Buffer.from('{"database":');

/** Read in place of an event without a value, so that all events are opened in the same way. */
const emptyDocument = Buffer.from("{}");

/**
 * TiCDC's open protocol, which packs documents: `(length: uint64, big-endian | JSON)*`. The key begins with the version (1, as a uint64).
 * Key and value have the same number of documents, and an event without a value has an empty one.
 */
export const ticdc: Framing = {
  name: "ticdc",
  headerNames: [],
  recognise: (message) => {
    const lengths = "lengths in eight bytes each that lead from JSON object to JSON object and end with the message";
    const evidence = message.side === "key" ? `version 1 in eight bytes, then ${lengths}` : lengths;
    return openDocuments(message) === null ? null : evidence;
  },
  open: (message) => frameOf(openDocuments(message), message),
  prefixes: [Buffer.alloc(lengthBytes / 2)],
};

/** TiCDC's Maxwell protocol, which packs rows without lengths: `JSON*`. The key is only the version. */
export const ticdcMaxwell: Framing = {
  name: ticdc.name,
  headerNames: [],
  recognise: (message) =>
    maxwellDocuments(message) === null ? null : "Maxwell's JSON objects one after another, to the end of the message",
  open: (message) => frameOf(maxwellDocuments(message), message),
  prefixes: [maxwellStart],
  packsTexts: true,
};

function frameOf(payloads: readonly Payload[] | null, { start, end }: Message): Frame {
  if (payloads === null) {
    throw new DecodeError(
      "malformed",
      "expected TiCDC's documents, each after its length, found lengths that do not fit; check whether the message was cut",
    );
  }
  const max = Math.max(maxInShort, Math.floor((end - start) / minAverage));
  if (payloads.length > max) {
    throw new DecodeError(
      "limit-exceeded",
      `expected at most ${max} documents in a TiCDC message of this length, found ${payloads.length}; lower max-batch-size of the changefeed`,
    );
  }
  return { schemaId: null, payloads };
}

/**
 * The documents, or null if the bytes are not such a message. Lengths that add up exactly to the end of the message are not a coincidence.
 * An event without a value is alone in its message.
 */
function openDocuments({ side, bytes, start, end }: Message): readonly Payload[] | null {
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

/**
 * The rows that TiCDC's Maxwell protocol packs with nothing between them; null if there are fewer than two. Each row begins with the name
 * that TiCDC's encoder writes first.
 */
function maxwellDocuments({ side, bytes, start, end }: Message): readonly Payload[] | null {
  if (side === "key") {
    return null;
  }
  const payloads: Payload[] = [];
  for (let at = start; at < end; ) {
    const documentEnd = standsAt(bytes, at, end) ? endOfObject(bytes, at, end) : null;
    if (documentEnd === null) {
      return null;
    }
    payloads.push({ bytes, start: at, end: documentEnd, count: 1 });
    at = documentEnd;
  }
  return payloads.length < 2 ? null : payloads;
}

function standsAt(bytes: Buffer, at: number, end: number): boolean {
  return end - at > maxwellStart.length && bytes.compare(maxwellStart, 0, maxwellStart.length, at, at + maxwellStart.length) === 0;
}

/** The position after the brace that closes the object; null if no brace closes it. Braces inside strings do not count. */
function endOfObject(bytes: Buffer, start: number, end: number): number | null {
  let depth = 0;
  let isString = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (isString) {
      at += byte === backslash ? 1 : 0;
      isString = byte !== quote;
    } else if (byte === quote) {
      isString = true;
    } else if (byte === openBrace) {
      depth++;
    } else if (byte === closeBrace && --depth === 0) {
      return at + 1;
    }
  }
  return null;
}

/** Where the documents of a key begin: at the end, if its version is not 1, so that no document is found. */
function behindVersion(bytes: Buffer, start: number, end: number): number {
  return end - start > lengthBytes && lengthAt(bytes, start) === 1 ? start + lengthBytes : end;
}

/** Null if the length is larger than any message can be. */
function lengthAt(bytes: Buffer, at: number): number | null {
  return bytes.readUInt32BE(at) === 0 ? bytes.readUInt32BE(at + 4) : null;
}
