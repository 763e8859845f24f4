import { isSameText, maxWordBytes, words } from "./words.ts";

/** More bytes are compared eight at a time if there is a view of them, and by the runtime if not. */
const maxInline = 128;

/** Fewer bytes are compared one by one, and the loop ends at the first difference. */
const minBytes = 8;

/** Whether the message begins with the prefix, and has more bytes after it. `view` is {@link viewOfText} of the prefix. */
export function beginsWith(bytes: Uint8Array, start: number, end: number, prefix: Buffer, view: DataView | null = null): boolean {
  const { length } = prefix;
  if (start + length >= end) {
    return false;
  }
  if (length > maxInline) {
    if (view === null || length > maxWordBytes) {
      return prefix.compare(bytes, start, start + length) === 0;
    }
    words.turnTo(bytes);
    return isSameText(view, 0, words.view, words.offset + start, length);
  }
  if (length >= minBytes) {
    return areSame(prefix, 0, bytes, start, length);
  }
  for (let i = 0; i < length; i++) {
    if (bytes[start + i] !== prefix[i]) {
      return false;
    }
  }
  return true;
}

/**
 * Whether `length` bytes of both arrays are equal. All of them must be there. Four bytes are compared per step, and the differences are
 * collected in one integer: a test after each step would cost more than the comparisons that it saves.
 */
export function areSame(known: Uint8Array, place: number, b: Uint8Array, start: number, length: number): boolean {
  let differing = 0;
  let k = place;
  let p = start;
  const end = start + length;
  for (; p + 4 <= end; p += 4, k += 4) {
    differing |= (known[k]! ^ b[p]!) | (known[k + 1]! ^ b[p + 1]!) | (known[k + 2]! ^ b[p + 2]!) | (known[k + 3]! ^ b[p + 3]!);
  }
  for (; p < end; p++, k++) {
    differing |= known[k]! ^ b[p]!;
  }
  return differing === 0;
}

/** Copies `length` bytes of one array into another. */
export function keep(known: Uint8Array, place: number, b: Uint8Array, start: number, length: number): void {
  for (let i = 0; i < length; i++) {
    known[place + i] = b[start + i]!;
  }
}
