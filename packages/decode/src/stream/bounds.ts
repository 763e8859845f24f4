/** Checks that every limit is a positive integer. Throws a `RangeError` that names the wrong one. */
export function resolveBounds<Bounds extends object>(bounds: Bounds, where: string): Bounds {
  for (const [name, value] of Object.entries(bounds)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`${where}.${name} must be a positive integer, got ${String(value)}`);
    }
  }
  return Object.freeze(bounds);
}
