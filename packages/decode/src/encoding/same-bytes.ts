/** Most bytes that are compared in a loop: a call of the runtime's own comparison costs more than that. */
const maxInline = 128;

/** Fewer bytes than this are looked at one by one, as long as they are the same. */
const minBytes = 8;

/** Whether these bytes stand at the message's start, and others behind them. */
export function beginsWith(bytes: Uint8Array, start: number, end: number, prefix: Buffer): boolean {
  const { length } = prefix;
  if (start + length >= end) {
    return false;
  }
  if (length >= minBytes) {
    return length > maxInline ? prefix.compare(bytes, start, start + length) === 0 : areSame(prefix, 0, bytes, start, length);
  }
  for (let i = 0; i < length; i++) {
    if (bytes[start + i] !== prefix[i]) {
      return false;
    }
  }
  return true;
}

/** Whether `length` bytes of one array are those of another, all of which are there. Four at a time, and looked at once. */
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

/** Keeps so many bytes of one array in another. */
export function keep(known: Uint8Array, place: number, b: Uint8Array, start: number, length: number): void {
  for (let i = 0; i < length; i++) {
    known[place + i] = b[start + i]!;
  }
}
