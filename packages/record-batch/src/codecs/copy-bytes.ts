/** Below this, a loop is faster than a call into the runtime. Measured by the suite `record-batch`. */
const loopBelow = 48;

/** Copies `length` bytes. The caller has checked that they lie within both. */
export function copyLiteral(source: Buffer, from: number, out: Buffer, to: number, length: number): void {
  if (length < loopBelow) {
    for (let i = 0; i < length; i++) {
      out[to + i] = source[from + i] as number; // within bounds, by the contract above
    }
  } else {
    source.copy(out, to, from, from + length);
  }
}

/**
 * Copies bytes from `distance` bytes before `to`. If source and target overlap, the bytes repeat. The caller has checked that both lie within
 * `out`.
 */
export function copyMatch(out: Buffer, to: number, distance: number, length: number): void {
  const from = to - distance;
  if (length < loopBelow || distance < loopBelow) {
    for (let i = 0; i < length; i++) {
      out[to + i] = out[from + i] as number; // within bounds, by the contract above
    }
    return;
  }
  // Each round copies what is there already, so that nothing is read before it is written.
  let copied = 0;
  while (copied < length) {
    const part = Math.min(distance + copied, length - copied);
    out.copyWithin(to + copied, from, from + part);
    copied += part;
  }
}
