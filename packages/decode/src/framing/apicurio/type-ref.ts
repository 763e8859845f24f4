import type { MessageChoice } from "../framing.ts";
import { readVarint } from "../varint.ts";

/** The tag of field 1 with a length-delimited wire type. It is the only field of Apicurio's `message Ref { string name = 1; }`. */
const nameTag = 0x0a;

/**
 * Reads the name of the type that Apicurio's Protobuf serializer writes before a message: the length of a `Ref`, then the `Ref`. The name
 * is the message's own name without its package. Null if the bytes are not a `Ref`.
 */
export function typeRef(bytes: Uint8Array, start: number, end: number): MessageChoice | null {
  const ref = readVarint(bytes, start, end);
  if (ref === null || ref.value > end - ref.next || bytes[ref.next] !== nameTag || ref.next >= end) {
    return null;
  }
  const refEnd = ref.next + ref.value;
  const name = readVarint(bytes, ref.next + 1, refEnd);
  if (name === null || name.next + name.value !== refEnd) {
    return null;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + name.next, name.value).toString("latin1");
  return /^[A-Za-z_][\w.]{0,511}$/.test(text)
    ? { message: { kind: "name", name: text }, length: refEnd - start, framing: "apicurio" }
    : null;
}

/**
 * The message that the type's name selects, then the first message of the file. The serializer writes no name if `send-type-ref` is off.
 */
export function messageChoices(bytes: Uint8Array, start: number, end: number): readonly MessageChoice[] {
  const ref = typeRef(bytes, start, end);
  const first: MessageChoice = { message: { kind: "path", path: [0] }, length: 0 };
  return ref === null ? [first] : [ref, first];
}
