import { isUtf8 } from "node:buffer";
import { isDecodeError } from "../../errors.ts";
import { type Cursor, readEnd, readTag, readUint64, skipField, tooDeep, wire } from "./cursor.ts";
import type { FieldType, Message, MessageField } from "./messages.ts";
import { addCost, costBudget } from "./cost.ts";
import { wireOfKind } from "./wires.ts";

/** The cost of checking a field, and of checking one value of a packed list. */
const fieldCost = 30;
const packedCost = 4;
/** A payload may be tried as this many messages. Together they may cost as much as reading the payload once. */
const maxTries = 8;

/**
 * Whether a serializer of this message can have written all of the bytes: each field belongs to the message and has the wire type of its
 * type, single fields come once, numbers are in their range, texts are UTF-8. Most bytes can be read as many messages, because a reader
 * skips the fields that a message does not have; few bytes fit two messages. Throws only a `DecodeError` with the code `limit-exceeded`.
 */
export function fits(message: Message, at: Cursor, bytes: Uint8Array, start: number, end: number): boolean {
  at.cost = 0;
  at.maxCost = costBudget(at, end - start) / maxTries;
  try {
    return new Check(at, bytes).message(message, start, end, 0, 1) === end;
  } catch (error) {
    if (!isDecodeError(error) || error.code === "limit-exceeded") {
      throw error;
    }
    return false;
  }
}

/** The result of a check that failed. It is no valid position. */
const misfit = -1;

class Check {
  readonly #at: Cursor;
  readonly #bytes: Uint8Array;
  readonly #fields = new Map<Message, ReadonlyMap<number, MessageField>>();

  constructor(at: Cursor, bytes: Uint8Array) {
    this.#at = at;
    this.#bytes = bytes;
  }

  /** The end of the message, or of the group that ends with the tag `endTag`; {@link misfit} if something does not fit. */
  message(message: Message, p: number, e: number, endTag: number, depth: number): number {
    if (depth > this.#at.maxDepth) {
      throw tooDeep(this.#at);
    }
    const fields = this.#fieldsOf(message);
    const seen = new Set<MessageField | number>();
    for (let position = p; position < e; ) {
      const tag = readTag(this.#at, this.#bytes, position, e);
      position = this.#at.p;
      addCost(this.#at, fieldCost);
      if (tag === endTag) {
        return this.#hasRequired(message, seen) ? position : misfit;
      }
      const field = fields.get(tag >>> 3);
      if (field === undefined || !isNew(field, seen)) {
        return misfit;
      }
      position = this.#value(field, tag, position, e, depth);
      if (position === misfit) {
        return misfit;
      }
    }
    return endTag === 0 && this.#hasRequired(message, seen) ? e : misfit;
  }

  #fieldsOf(message: Message): ReadonlyMap<number, MessageField> {
    const known = this.#fields.get(message) ?? new Map(message.fields.map((field) => [field.number, field]));
    this.#fields.set(message, known);
    return known;
  }

  #hasRequired({ fields }: Message, seen: ReadonlySet<MessageField | number>): boolean {
    return fields.every((field) => !field.isRequired || seen.has(field));
  }

  #value({ type, cardinality }: MessageField, tag: number, p: number, e: number, depth: number): number {
    const wireType = tag & 7;
    if (type.kind === "message") {
      return this.#inner(type, tag, p, e, depth);
    }
    const own = wireOfKind(type.kind);
    if (wireType === wire.length && own !== wire.length && cardinality === "repeated") {
      return this.#packed(type, own, p, e);
    }
    return wireType === own ? this.#scalar(type, own, p, e) : misfit;
  }

  #inner({ message, isGroup }: FieldType & { readonly kind: "message" }, tag: number, p: number, e: number, depth: number): number {
    if ((tag & 7) !== (isGroup ? wire.groupStart : wire.length)) {
      return misfit;
    }
    if (isGroup) {
      return this.message(message, p, e, tag + 1, depth + 1); // the end tag of a group is its start tag plus one: wire type 4 after 3
    }
    const end = readEnd(this.#at, this.#bytes, p, e);
    return this.message(message, this.#at.p, end, 0, depth + 1);
  }

  #packed(type: FieldType, own: number, p: number, e: number): number {
    const end = readEnd(this.#at, this.#bytes, p, e);
    let position = this.#at.p;
    while (position !== misfit && position < end) {
      addCost(this.#at, packedCost);
      position = this.#scalar(type, own, position, end);
    }
    return position;
  }

  #scalar(type: FieldType, own: number, p: number, e: number): number {
    const at = this.#at;
    if (own === wire.varint && !is64Bits(type)) {
      return isInRange(type, readUint64(at, this.#bytes, p, e)) ? at.p : misfit;
    }
    if (type.kind === "string") {
      const end = readEnd(at, this.#bytes, p, e);
      return isUtf8(this.#bytes.subarray(at.p, end)) ? end : misfit;
    }
    return skipField(at, this.#bytes, p, e, 8 | own);
  }
}

/** Whether a serializer can write this field now: a single field comes once, and only one field of a oneof comes. */
function isNew(field: MessageField, seen: Set<MessageField | number>): boolean {
  if (field.cardinality !== "single") {
    return true;
  }
  const mark = field.oneof >= 0 ? field.oneof : field;
  const before = seen.size;
  seen.add(mark);
  return seen.size > before;
}

function is64Bits({ kind }: FieldType): boolean {
  return kind === "int64" || kind === "uint64" || kind === "sint64";
}

/** The lowest 64 bits of a negative int32: negative numbers are extended to 64 bits. */
const minNegative = 2n ** 64n - 2n ** 31n;

/** Whether a serializer of the type can have written a varint of these bits. It writes a negative int32 as 64 bits. */
function isInRange({ kind }: FieldType, bits: number | bigint): boolean {
  switch (kind) {
    case "bool":
      return bits <= 1;
    case "uint32":
    case "sint32":
      return bits < 2 ** 32;
    default:
      return bits < 2 ** 31 || bits >= minNegative;
  }
}
