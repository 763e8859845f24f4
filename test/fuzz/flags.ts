/**
 * The number of a flag. One that is none would end a run before its first message, and nothing would be found.
 * @param least - the smallest that the flag takes
 */
export function numberOf(flag: string, text: string, least: number): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < least) {
    throw new RangeError(`--${flag} must be a number of at least ${least}, got "${text}"`);
  }
  return value;
}
