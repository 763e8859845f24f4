/**
 * A message field that comes twice is one message in two parts: the parts' bytes side by side are the whole message's bytes. Nobody writes
 * that today, and it must be read right all the same.
 */
import { type Cursor, groupEnd, lookAgain, readEnd, readTag, skipField, wire } from "./cursor.ts";
import type { FieldStep } from "./steps.ts";
import { wireOf } from "./wires.ts";

interface Part {
  readonly start: number;
  readonly end: number;
}

/** The message fields of the message from `p` to `e` that come in several parts, each joined. */
export function joinParts(
  at: Cursor,
  b: Uint8Array,
  p: number,
  e: number,
  fields: ReadonlyMap<number, FieldStep>,
): ReadonlyMap<FieldStep, Uint8Array> {
  lookAgain(at, e - p);
  const parts = new Map<FieldStep, Part[]>();
  const inOneof = new Map<number, FieldStep>();
  let position = p;
  while (position < e) {
    const tag = readTag(at, b, position, e);
    position = at.p;
    const field = fields.get(tag >>> 3);
    const part = field === undefined ? null : partOf(at, b, position, e, tag, field);
    position = part === null ? skipField(at, b, position, e, tag) : at.p;
    if (field === undefined || field.cardinality !== "single" || (tag & 7) !== wireOf(field.step)) {
      continue;
    }
    if (field.oneof >= 0 && inOneof.get(field.oneof) !== field) {
      parts.delete(inOneof.get(field.oneof) ?? field); // another field of the oneof takes it out
      inOneof.set(field.oneof, field);
    }
    if (part !== null) {
      const known = parts.get(field);
      if (known === undefined) {
        parts.set(field, [part]);
      } else {
        known.push(part);
      }
    }
  }
  return new Map([...parts].filter(([, { length }]) => length > 1).map(([field, found]) => [field, joined(at, b, found)]));
}

/** Where the content stands of a message field that is on the wire as it should be; the position behind it is left in `Cursor.p`. */
function partOf(at: Cursor, b: Uint8Array, p: number, e: number, tag: number, field: FieldStep): Part | null {
  if (field.cardinality !== "single" || field.step.kind !== "message") {
    return null;
  }
  if (field.step.isGroup) {
    return (tag & 7) === wire.groupStart ? { start: p, end: groupEnd(at, b, p, e, tag) } : null;
  }
  if ((tag & 7) !== wire.length) {
    return null;
  }
  const end = readEnd(at, b, p, e);
  const start = at.p;
  at.p = end;
  return { start, end };
}

function joined(at: Cursor, b: Uint8Array, parts: readonly Part[]): Uint8Array {
  const length = parts.reduce((sum, { start, end }) => sum + end - start, 0);
  lookAgain(at, length);
  const whole = new Uint8Array(length);
  let p = 0;
  for (const { start, end } of parts) {
    whole.set(b.subarray(start, end), p);
    p += end - start;
  }
  return whole;
}
