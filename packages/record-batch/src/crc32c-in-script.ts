/** The checksum of record batches: CRC-32C (Castagnoli), bits reversed. https://www.rfc-editor.org/rfc/rfc3720#appendix-B.4 */

const reversedPolynomial = 0x82f63b78;
/** Words of which both halves of a block are read at a time: 8 tables of 1 KiB fit into the first cache beside the bytes. */
const tableCount = 8;
/** Half a block, 2 KiB: long enough for the joining of two halves to cost little, and a batch has several. A power of two. */
const wordsInHalf = 512;
/** Fewer words than these are not worth a view of words. */
const minWords = 16;

/** Whether the lowest byte of a word comes first, as on nearly all machines. */
const isLittleEndian = new Uint8Array(new Int32Array([1]).buffer)[0] === 1;

const { afterBytes, afterBlocks, afterWords } = makeParts();

/** The CRC-32C of the bytes from `start` to `end`, as an unsigned number, by code of this package. */
export function crc32cInScript(bytes: Uint8Array, start: number, end: number): number {
  // Reading whole words takes less than half of the time. They can only be read where they are aligned.
  const firstWord = start + (-(bytes.byteOffset + start) & 3);
  const wordCount = isLittleEndian ? Math.max(0, end - firstWord) >> 2 : 0;
  if (wordCount < minWords) {
    return ~afterBytes(-1, bytes, start, end) >>> 0;
  }
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + firstWord, wordCount - (wordCount % 2));
  const inBlocks = words.length - (words.length % (2 * wordsInHalf));
  const crc = afterBlocks(afterBytes(-1, bytes, start, firstWord), words, inBlocks);
  return ~afterBytes(afterWords(crc, words, inBlocks), bytes, firstWord + words.byteLength, end) >>> 0;
}

/** What goes on with the checksum of what comes before. */
interface ChecksumParts {
  readonly afterBytes: (before: number, bytes: Uint8Array, start: number, end: number) => number;
  readonly afterBlocks: (before: number, words: Int32Array, end: number) => number;
  readonly afterWords: (before: number, words: Int32Array, from: number) => number;
}

/**
 * Functions within a function, for their constants: a bundler makes variables of the constants of a module, and V8 then looks up each table at
 * each use. That takes more than twice the time.
 */
function makeParts(): ChecksumParts {
  /** `tables[n][byte]`: what a byte does to the checksum when n more bytes follow it. */
  const [t0, t1, t2, t3, t4, t5, t6, t7] = makeTables();
  /** What half a block of zeros multiplies a checksum by: x to the power of its bits. */
  const halfOfZeros = powerOfX(Math.log2(wordsInHalf * 32));

  function afterBytes(before: number, bytes: Uint8Array, start: number, end: number): number {
    let crc = before;
    for (let at = start; at < end; at++) {
      crc = (t0[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8);
    }
    return crc;
  }

  // Every index is below 256 and every position below the length: the casts only tell the compiler so.

  /**
   * The words before `end`, which are whole blocks. The processor waits for each lookup, whose place depends on the one before. So both halves of a
   * block are gone through at the same time, and their checksums joined.
   */
  function afterBlocks(before: number, words: Int32Array, end: number): number {
    let crc = before;
    for (let block = 0; block < end; block += 2 * wordsInHalf) {
      let left = crc;
      let right = 0;
      for (let at = block; at < block + wordsInHalf; at += 2) {
        left = afterTwoWords((words[at] as number) ^ left, words[at + 1] as number);
        right = afterTwoWords((words[at + wordsInHalf] as number) ^ right, words[at + wordsInHalf + 1] as number);
      }
      crc = product(left, halfOfZeros) ^ right;
    }
    return crc;
  }

  /** The words from `from` on. Their number is even. */
  function afterWords(before: number, words: Int32Array, from: number): number {
    let crc = before;
    for (let at = from; at < words.length; at += 2) {
      crc = afterTwoWords((words[at] as number) ^ crc, words[at + 1] as number);
    }
    return crc;
  }

  function afterTwoWords(first: number, second: number): number {
    return (
      (t7[first & 0xff] as number) ^
      (t6[(first >>> 8) & 0xff] as number) ^
      (t5[(first >>> 16) & 0xff] as number) ^
      (t4[first >>> 24] as number) ^
      (t3[second & 0xff] as number) ^
      (t2[(second >>> 8) & 0xff] as number) ^
      (t1[(second >>> 16) & 0xff] as number) ^
      (t0[second >>> 24] as number)
    );
  }

  return { afterBytes, afterBlocks, afterWords };
}

/** The product of two polynomials, modulo the checksum's own. The highest bit is the lowest power of x. */
function product(one: number, other: number): number {
  let sum = 0;
  let shifted = other;
  for (let bits = one; bits !== 0; bits <<= 1) {
    sum ^= bits < 0 ? shifted : 0;
    shifted = (shifted >>> 1) ^ ((shifted & 1) === 1 ? reversedPolynomial : 0);
  }
  return sum;
}

/** x to the power of 2 to the power of `squarings`. */
function powerOfX(squarings: number): number {
  let power = 1 << 30;
  for (let i = 0; i < squarings; i++) {
    power = product(power, power);
  }
  return power;
}

type Tables = [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];

function makeTables(): Tables {
  const made = [Int32Array.from({ length: 256 }, (_, byte) => afterEightBits(byte))];
  while (made.length < tableCount) {
    const [first, last] = [made[0], made.at(-1)] as [Int32Array, Int32Array]; // never empty
    made.push(last.map((crc) => (first[crc & 0xff] as number) ^ (crc >>> 8)));
  }
  return made as Tables; // there are so many
}

function afterEightBits(byte: number): number {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) {
    crc = (crc & 1) === 1 ? (crc >>> 1) ^ reversedPolynomial : crc >>> 1;
  }
  return crc;
}
