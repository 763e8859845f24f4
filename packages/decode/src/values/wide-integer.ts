import { integerText, paddedText } from "./digits.ts";

/** Longest integer that {@link createWideIntegerText} takes. From here on BigInt is as fast. */
export const mostWideBytes = 16;

const limbBase = 10_000_000;
const limbDigits = 7;
/** 39 digits of 16 bytes, seven to a limb. */
const mostLimbs = 6;

/**
 * A function that writes the digits of a two's complement integer's magnitude, without BigInt: limbs of seven decimal digits are
 * multiplied up, three bytes at a time. A limb times 2^24 stays below 2^53.
 */
export function createWideIntegerText(): (bytes: Uint8Array, start: number, end: number) => string {
  const limbs = new Float64Array(mostLimbs);
  return (bytes, start, end) => {
    const flip = (bytes[start] as number) > 127 ? 255 : 0; // -n is the complement of n, plus one
    let count = 1;
    limbs[0] = 0;
    for (let i = start; i < end; ) {
      const ahead = end - i >= 3 ? 3 : 1;
      let carry = 0;
      for (const chunkEnd = i + ahead; i < chunkEnd; i++) {
        carry = (carry << 8) | ((bytes[i] as number) ^ flip);
      }
      count = multiplyAdd(limbs, count, ahead === 3 ? 16_777_216 : 256, carry);
    }
    return limbsText(limbs, flip === 0 ? count : multiplyAdd(limbs, count, 1, 1));
  };
}

/** `limbs * factor + addend` in place; the answer is how many limbs there are now. */
function multiplyAdd(limbs: Float64Array, count: number, factor: number, addend: number): number {
  let carry = addend;
  for (let k = 0; k < count; k++) {
    const value = (limbs[k] as number) * factor + carry;
    carry = Math.floor(value / limbBase);
    limbs[k] = value - carry * limbBase;
  }
  let grown = count;
  while (carry > 0) {
    const next = Math.floor(carry / limbBase);
    limbs[grown++] = carry - next * limbBase;
    carry = next;
  }
  return grown;
}

function limbsText(limbs: Float64Array, count: number): string {
  let text = integerText(limbs[count - 1] as number);
  for (let k = count - 2; k >= 0; k--) {
    text += paddedText(limbs[k] as number, limbDigits);
  }
  return text;
}
