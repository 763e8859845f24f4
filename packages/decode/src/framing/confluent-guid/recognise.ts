import { DecodeError } from "../../errors.ts";
import type { SchemaId } from "../../schema-source.ts";
import { choicesOf, readMessageIndexes } from "../confluent/message-indexes.ts";
import { confluent, confluentId, frameLength } from "../confluent/recognise.ts";
import type { Frame, Framing, Message, MessageChoice } from "../framing.ts";
import { lastHeader } from "../last-header.ts";
import { uuidAt } from "../uuid-at.ts";

const magicByte = 1;
/** A magic byte and a GUID. */
const guidFrameLength = 17;
const headerNames = { key: "__key_schema_id", value: "__value_schema_id" } as const;

/**
 * Confluent's second framing, in a header. The header `__key_schema_id` or `__value_schema_id` holds `01 | GUID: 16 bytes | message
 * indexes, if the schema is Protobuf`, or the first framing's `00 | id: int32 | message indexes`. The message is the payload alone. If
 * there are several such headers, the last one counts. A header without a value is ignored.
 */
export const confluentGuidHeader: Framing = {
  name: "confluent-guid",
  headerNames: [headerNames.key, headerNames.value],
  recognise: (message) => (headerOf(message) === null ? null : `header ${headerNames[message.side]}`),
  open: openHeader,
  writesBareBytes: true,
};

/** Confluent's second framing, before the payload: `01 | GUID: 16 bytes | message indexes, if the schema is Protobuf | payload`. */
export const confluentGuid: Framing = {
  name: "confluent-guid",
  headerNames: [],
  recognise: ({ bytes, start, end }) => (isGuidFrame(bytes, start, end) ? `byte 0 is 01, then the GUID ${uuidAt(bytes, start + 1)}` : null),
  open: ({ bytes, start, end }) => ({
    schemaId: guidId(bytes, start),
    payloads: [{ bytes, start: start + guidFrameLength, end, count: 1 }],
  }),
  ...(confluent.choices === undefined ? {} : { choices: confluent.choices }),
  prefixes: [Buffer.of(magicByte)],
  writesBareBytes: true,
};

function headerOf({ headers, side }: Message): Buffer | null {
  return lastHeader(headers, headerNames[side]);
}

function openHeader(message: Message): Frame {
  const { bytes, start, end, side } = message;
  const header = headerOf(message) ?? Buffer.alloc(0);
  const { schemaId, next } = readHeader(header, headerNames[side]);
  const payloads = [{ bytes, start, end, count: 1 }];
  // Only Protobuf schemas have indexes.
  return next === header.length ? { schemaId, payloads } : { schemaId, choices: readChoices(header, next), payloads };
}

/** The messages that the indexes after the id may mean. The indexes take all the bytes that are left. */
function readChoices(header: Buffer, at: number): readonly MessageChoice[] {
  const { path, length } = readMessageIndexes(header, at, header.length);
  if (at + length !== header.length) {
    throw new DecodeError(
      "malformed",
      "expected only the message indexes of a Protobuf schema after the id in the header, found more bytes; check what wrote the header",
    );
  }
  return choicesOf({ path, length: 0 });
}

/** The id in a header, and the position of the message indexes after it. */
function readHeader(header: Buffer, name: string): { readonly schemaId: SchemaId; readonly next: number } {
  if (isGuidFrame(header, 0, header.length)) {
    return { schemaId: guidId(header, 0), next: guidFrameLength };
  }
  const id = confluentId(header, 0, header.length);
  if (id === 0) {
    throw new DecodeError(
      "malformed",
      `expected header ${name} to hold 01 and a GUID of 16 bytes, or 00 and an id of 4 bytes, found ${header.length} other bytes; ` +
        "if the Kafka client converts headers to text, configure it to keep them as bytes",
    );
  }
  return { schemaId: id, next: frameLength };
}

function isGuidFrame(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start >= guidFrameLength && bytes[start] === magicByte;
}

function guidId(bytes: Buffer, start: number): SchemaId {
  return `guid:${uuidAt(bytes, start + 1)}`;
}
