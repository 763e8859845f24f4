const fractionUnits = 1_024;
const minExponent = -14;

/** IEEE 754 binary16 (RFC 8949, appendix D). */
export function halfFloat(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) {
    return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  }
  return exponent === 0
    ? sign * (fraction / fractionUnits) * 2 ** minExponent
    : sign * (1 + fraction / fractionUnits) * 2 ** (exponent - 15);
}
