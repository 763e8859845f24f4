import type { MessageChoice } from "../framing.ts";
import { readVarint } from "../varint.ts";

/** Tag of field 1, of a wire type that has a length: the only field of Apicurio's `message Ref { string name = 1; }`. */
const nameTag = 0x0a;

/**
 * The type's name as Apicurio's Protobuf serializer writes it before a message: the length of a `Ref`, and the `Ref`. The name is the
 * message's own, without its package. Null where the bytes are none.
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

/** The type's name, or else the first message of the file: with `send-type-ref` off, nothing is written. */
export function messageChoices(bytes: Uint8Array, start: number, end: number): readonly MessageChoice[] {
  const ref = typeRef(bytes, start, end);
  const first: MessageChoice = { message: { kind: "path", path: [0] }, length: 0 };
  return ref === null ? [first] : [ref, first];
}
