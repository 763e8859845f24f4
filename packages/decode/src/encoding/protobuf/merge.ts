/**
 * Protobuf allows a message field to come in several parts: their bytes in sequence are the bytes of the whole message. No serializer
 * writes that today, but the specification requires parsers to read it.
 */
import { type Cursor, groupEnd, readEnd, readTag, skipField, wire } from "./cursor.ts";
import { isMadeOfFields } from "./made-of-fields.ts";
import type { FieldInstruction } from "./read-instructions.ts";
import { addRereadCost } from "./cost.ts";
import { wireOf } from "./wires.ts";

/** Longer parts are copied by one call, which is faster from this length on. */
const maxCopiedSingly = 32;

/** Whether a second part is read into the object of the first, because that object is made of the message's fields alone. */
export function mergesInPlace({ cardinality, instruction, use }: FieldInstruction): boolean {
  if (cardinality !== "single" || instruction.kind !== "message" || use !== "read") {
    return false;
  }
  return isMadeOfFields(instruction.message);
}

/** Finds the message fields from `p` to `e` that come in several parts and must be read as one, and joins their parts. */
export function joinParts(
  at: Cursor,
  b: Uint8Array,
  p: number,
  e: number,
  fields: ReadonlyMap<number, FieldInstruction>,
): ReadonlyMap<FieldInstruction, Uint8Array> {
  addRereadCost(at, e - p);
  const parts = new Map<FieldInstruction, number[]>(); // for each field: start, end, start, end, ...
  const inOneof = new Map<number, FieldInstruction>();
  let position = p;
  while (position < e) {
    const tag = readTag(at, b, position, e);
    position = at.p;
    const field = fields.get(tag >>> 3);
    const start = position;
    position = skipField(at, b, position, e, tag);
    if (field === undefined || field.cardinality !== "single" || (tag & 7) !== wireOf(field.instruction)) {
      continue;
    }
    if (field.oneof >= 0 && inOneof.get(field.oneof) !== field) {
      parts.delete(inOneof.get(field.oneof) ?? field); // a later field of the oneof replaces the earlier one
      inOneof.set(field.oneof, field);
    }
    if (field.instruction.kind === "message" && field.use !== "skip" && !mergesInPlace(field)) {
      const known = parts.get(field) ?? [];
      parts.set(field, known);
      known.push(...contentOf(at, b, start, position, tag));
    }
  }
  return new Map([...parts].filter(([, { length }]) => length > 2).map(([field, found]) => [field, joined(at, b, found)]));
}

/** The start and the end of the content of a message or a group that was just skipped. */
function contentOf(at: Cursor, b: Uint8Array, p: number, behind: number, tag: number): [start: number, end: number] {
  if ((tag & 7) === wire.groupStart) {
    return [p, groupEnd(at, b, p, behind, tag)];
  }
  const end = readEnd(at, b, p, behind);
  return [at.p, end];
}

function joined(at: Cursor, b: Uint8Array, parts: readonly number[]): Uint8Array {
  let length = 0;
  for (let i = 0; i < parts.length; i += 2) {
    length += (parts[i + 1] ?? 0) - (parts[i] ?? 0);
  }
  addRereadCost(at, length);
  const whole = new Uint8Array(length);
  let p = 0;
  for (let i = 0; i < parts.length; i += 2) {
    p = copyPart(b, parts[i] ?? 0, parts[i + 1] ?? 0, whole, p);
  }
  return whole;
}

function copyPart(b: Uint8Array, start: number, end: number, whole: Uint8Array, p: number): number {
  if (end - start > maxCopiedSingly) {
    whole.set(b.subarray(start, end), p);
    return p + end - start;
  }
  for (let from = start; from < end; from++) {
    whole[p++] = b[from] ?? 0;
  }
  return p;
}
