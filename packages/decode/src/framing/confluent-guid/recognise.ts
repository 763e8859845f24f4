import { DecodeError } from "../../errors.ts";
import type { MessageSelector, SchemaId } from "../../schema-source.ts";
import { readMessageIndexes } from "../confluent/message-indexes.ts";
import { confluent, confluentId, frameLength } from "../confluent/recognise.ts";
import type { Frame, Framing, Message } from "../framing.ts";
import { lastHeader } from "../last-header.ts";
import { uuidAt } from "../uuid-at.ts";

const magicByte = 1;
/** Magic byte and GUID. */
const guidFrameLength = 17;
const headerNames = { key: "__key_schema_id", value: "__value_schema_id" } as const;

/**
 * Confluent's second framing in its usual place: the header `__key_schema_id` or `__value_schema_id` holds
 * `01 | GUID: 16 bytes | message indexes, where the schema is Protobuf`, or the first framing's `00 | id: int32 | message indexes`, and the
 * message is the payload alone. Of several such headers the last counts; one without a value says nothing.
 */
export const confluentGuidHeader: Framing = {
  name: "confluent-guid",
  headerNames: [headerNames.key, headerNames.value],
  recognise: (message) => (headerOf(message) === null ? null : `header ${headerNames[message.side]}`),
  open: openHeader,
  writesBareBytes: true,
};

/** The same before the payload: `01 | GUID: 16 bytes | message indexes, where the schema is Protobuf | payload`. */
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
  // Other types of schema have no indexes.
  return next === header.length ? { schemaId, payloads } : { schemaId, message: readIndexes(header, next), payloads };
}

/** All that stands behind the id. */
function readIndexes(header: Buffer, at: number): MessageSelector {
  const { path, length } = readMessageIndexes(header, at, header.length);
  if (at + length !== header.length) {
    throw new DecodeError(
      "malformed",
      "expected the message indexes of a Protobuf schema behind the id in its header, found more than them",
    );
  }
  return { kind: "path", path };
}

/** The id in a header, and where the message indexes begin. */
function readHeader(header: Buffer, name: string): { readonly schemaId: SchemaId; readonly next: number } {
  if (isGuidFrame(header, 0, header.length)) {
    return { schemaId: guidId(header, 0), next: guidFrameLength };
  }
  const id = confluentId(header, 0, header.length);
  if (id === 0) {
    throw new DecodeError(
      "malformed",
      `expected header ${name} to hold 01 and a GUID of 16 bytes, or 00 and an id of 4 bytes, found ${header.length} bytes that are neither: ` +
        "a client that makes text of headers breaks it, keep them as bytes",
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
