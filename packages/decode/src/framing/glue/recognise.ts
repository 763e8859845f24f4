import type { Frame, Framing, Message, MessageChoice } from "../framing.ts";
import { unpack, unpackLimit } from "../unpack.ts";
import { uuidAt } from "../uuid-at.ts";
import { readVarint } from "../varint.ts";

const versionByte = 3;
const plainByte = 0;
const zlibByte = 5;
/** A version byte, a compression byte and the id of the schema version. */
const frameLength = 18;

/**
 * AWS Glue's Schema Registry: `03 | compression: 00 none, 05 zlib | schema version id: UUID, 16 bytes | payload`. Everything after the id
 * is compressed. A Protobuf payload begins with an index: the place of its message among the sorted names of all messages of the file.
 */
export const glue: Framing = {
  name: "glue",
  headerNames: [],
  recognise: ({ bytes, start, end }) => {
    const compression = bytes[start + 1];
    const isGlue = end - start >= frameLength && bytes[start] === versionByte && (compression === plainByte || compression === zlibByte);
    return isGlue ? `bytes 03 0${compression}, then the schema version ${uuidAt(bytes, start + 2)}` : null;
  },
  open,
  prefixes: [Buffer.of(versionByte, plainByte), Buffer.of(versionByte, zlibByte)],
  choices: sortedIndex,
};

function open({ bytes, start, end, maxBytes }: Message): Frame {
  const schemaId = `glue:${uuidAt(bytes, start + 2)}`;
  const payloadStart = start + frameLength;
  if (bytes[start + 1] === plainByte) {
    return { schemaId, payloads: [{ bytes, start: payloadStart, end, count: 1 }] };
  }
  const packed = bytes.subarray(payloadStart, end);
  const unpacked = unpack("zlib", packed, unpackLimit(packed.length, maxBytes));
  return { schemaId, payloads: [{ bytes: unpacked, start: 0, end: unpacked.length, count: 1 }] };
}

/** The index is a plain varint. The Java documentation says zig-zag, but the serializer writes it with `writeUInt32NoTag`. */
function sortedIndex(bytes: Uint8Array, start: number, end: number): readonly MessageChoice[] {
  const index = readVarint(bytes, start, end);
  return index === null ? [] : [{ message: { kind: "sorted", index: index.value }, length: index.next - start }];
}
