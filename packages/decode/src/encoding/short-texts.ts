const slotCount = 2_048;
const longestText = 24;

/**
 * Short texts that were read before. Columns repeat their values (states, codes, names), and comparing bytes with a remembered string is
 * several times cheaper than asking the runtime for a new one. Direct-mapped and of fixed size: a text that collides replaces the other.
 */
export class ShortTexts {
  readonly #slots: string[] = new Array<string>(slotCount).fill("");

  /** The ASCII text of these bytes, or null where it is too long to be worth remembering. */
  get(bytes: Uint8Array, start: number, end: number): string | null {
    const length = end - start;
    if (length > longestText) {
      return null;
    }
    let hash = length;
    for (let i = start; i < end; i++) {
      hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    }
    const slot = (hash ^ (hash >>> 11)) & (slotCount - 1);
    const known = this.#slots[slot] as string;
    if (known.length === length && sameText(known, bytes, start)) {
      return known;
    }
    const text = latin1(bytes, start, end);
    this.#slots[slot] = text;
    return text;
  }
}

function sameText(text: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) !== bytes[start + i]) {
      return false;
    }
  }
  return true;
}

/** Node's own slicing methods: what `toString` calls after looking at its arguments. */
interface SliceMethods {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
}

/** The bytes as one character each. */
export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return (bytes as unknown as SliceMethods).latin1Slice(start, end);
}

/** The bytes as UTF-8, invalid sequences replaced: only for bytes that were, or will be, validated. */
export function utf8Unchecked(bytes: Uint8Array, start: number, end: number): string {
  return (bytes as unknown as SliceMethods).utf8Slice(start, end);
}
