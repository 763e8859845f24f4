/** Below this, a loop is faster than a call into the runtime. */
const loopBelow = 24;

/**
 * Copies bytes from `distance` bytes before `to`. If source and target overlap, the bytes repeat. The caller has checked that both lie within
 * `out`.
 */
export function copyMatch(out: Buffer, to: number, distance: number, length: number): void {
  const from = to - distance;
  if (length < loopBelow || distance < length) {
    for (let i = 0; i < length; i++) {
      out[to + i] = out[from + i] as number; // within bounds, by the contract above
    }
  } else {
    out.copyWithin(to, from, from + length);
  }
}
