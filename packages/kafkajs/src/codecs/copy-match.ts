/** Below this, a loop is faster than a call into the runtime. */
const loopBelow = 24;

/**
 * Copies what was written `distance` bytes before `to`, also where source and target overlap: then the bytes repeat. The caller has
 * checked that source and target lie within `out`.
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
