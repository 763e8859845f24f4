import type { Framing } from "../framing.ts";
import { confluentChoices, type IndexTolerance } from "./message-indexes.ts";

const magicByte = 0;
/** The lengths of a plain long and of a UUID. Such a key may begin like a frame by chance. */
const plainKeyLengths: readonly number[] = [8, 16];
const firstOfTypeName = 0x0a;
/** A magic byte and an id. */
export const frameLength = 5;

/**
 * Confluent's prefix: `00 | id: int32, big-endian | payload`. Ids begin at 1. The frame is confirmed if the registry knows the id and its
 * schema reads the payload to its last byte.
 */
export const confluent: Framing = {
  name: "confluent",
  headerNames: [],
  recognise: ({ bytes, start, end }) => {
    const id = confluentId(bytes, start, end);
    return id === 0 ? null : `byte 0 is 00, then the id ${id}`;
  },
  open: ({ side, bytes, start, end }) => ({
    schemaId: confluentId(bytes, start, end),
    payloads: [{ bytes, start: start + frameLength, end, count: 1 }],
    isAmbiguous: side === "key" && plainKeyLengths.includes(end - start),
  }),
  prefixes: [Buffer.of(magicByte)],
  isAskedFirst: true,
  frameBytesOf: (schemaId, choice) =>
    typeof schemaId === "number" && !mayNameType(choice) ? Buffer.concat([confluentPrefix(schemaId), choice]) : null,
  writesBareBytes: true,
  choices: (bytes, start, end, isTolerant) => confluentChoices(bytes, start, end, isTolerant ? everyTolerance : {}),
};

const everyTolerance: IndexTolerance = { reversed: true, missing: true, unsigned: true };

/** Whether these bytes can also be the beginning of Apicurio's name of a type, depending on the bytes after them. */
function mayNameType(choice: Buffer): boolean {
  return choice.length > 1 && choice[1] === firstOfTypeName;
}

/** The first bytes of a message whose schema has this id. */
function confluentPrefix(id: number): Buffer {
  const prefix = Buffer.alloc(frameLength, magicByte);
  prefix.writeInt32BE(id, 1);
  return prefix;
}

/** The schema id of a framed message, or 0 if the bytes are not framed. */
export function confluentId(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < frameLength || bytes[start] !== magicByte) {
    return 0;
  }
  const high = bytes[start + 1] as number;
  if (high > 0x7f) {
    return 0; // the id is a signed Java int, and no id is negative
  }
  return (high << 24) | ((bytes[start + 2] as number) << 16) | ((bytes[start + 3] as number) << 8) | (bytes[start + 4] as number);
}
