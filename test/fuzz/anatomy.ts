import type { Random } from "./random.ts";

/** A number in the bytes that says how much stands behind it, in whatever way its format writes numbers. */
export interface DeclaredLength {
  readonly start: number;
  readonly end: number;
  readonly value: number;
  readonly write: (value: number) => Buffer;
  /** The length that this number's own bytes are counted by. */
  readonly inside: DeclaredLength | null;
}

/** A part of a message that means something by itself. */
export interface Part {
  readonly start: number;
  readonly end: number;
  /** Parts of one kind can stand for each other. */
  readonly kind: string;
  /** The length that its bytes are counted by. */
  readonly inside: DeclaredLength | null;
  /** The count that it is one of. */
  readonly countedBy: DeclaredLength | null;
}

/** Where the parts of a message are, and what its format would put in a part's place. */
export interface Anatomy {
  readonly parts: readonly Part[];
  /** A value of the part's kind at an edge of what is possible, or beyond. */
  readonly edge: (part: Part, random: Random, bytes: Buffer) => Buffer;
  /** Another value that its type has too, where that is known without a schema. */
  readonly similar?: (part: Part, random: Random, bytes: Buffer) => Buffer;
}

export interface Edit {
  readonly part: Part;
  readonly put: Buffer;
  /** How many items there are more of. */
  readonly more?: number;
}

/** The bytes with parts replaced. Where it is honest, lengths and counts around them are made to say what then stands there. */
export function withEdits(bytes: Buffer, edits: readonly Edit[], isHonest: boolean): Buffer {
  const replaced = edits.map(({ part, put }) => ({ start: part.start, end: part.end, put }));
  if (isHonest) {
    replaced.push(...redeclared(edits).filter(({ start }) => !edits.some(({ part }) => part.start <= start && start < part.end)));
  }
  replaced.sort((a, b) => a.start - b.start);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, put } of replaced) {
    pieces.push(bytes.subarray(at, start), put);
    at = end;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}

interface Replaced {
  readonly start: number;
  readonly end: number;
  readonly put: Buffer;
}

/** Inner numbers first: one that takes another byte makes those around it greater. */
function redeclared(edits: readonly Edit[]): Replaced[] {
  const growth = new Map<DeclaredLength, number>();
  const grow = (declared: DeclaredLength | null, by: number): void => {
    for (let at = declared; at !== null && by !== 0; at = at.inside) {
      growth.set(at, (growth.get(at) ?? 0) + by);
    }
  };
  const counts = new Map<DeclaredLength, number>();
  for (const { part, put, more = 0 } of edits) {
    grow(part.inside, put.length - (part.end - part.start));
    if (part.countedBy !== null && more !== 0) {
      counts.set(part.countedBy, (counts.get(part.countedBy) ?? 0) + more);
    }
  }
  const done: Replaced[] = [];
  const write = (declared: DeclaredLength, value: number): void => {
    const put = declared.write(value);
    done.push({ start: declared.start, end: declared.end, put });
    grow(declared.inside, put.length - (declared.end - declared.start));
  };
  for (const [declared, more] of counts) {
    write(declared, declared.value + more);
  }
  const innerFirst = (): DeclaredLength | undefined =>
    [...growth.keys()].filter((declared) => !seen.has(declared)).sort((a, b) => b.start - a.start)[0];
  const seen = new Set<DeclaredLength>();
  for (let next = innerFirst(); next !== undefined; next = innerFirst()) {
    seen.add(next);
    write(next, next.value + (growth.get(next) ?? 0));
  }
  return done;
}

/** Another letter in a text of ASCII; other bytes stay as they are. */
export function otherLetter(found: Buffer, random: Random): Buffer {
  const changed = Buffer.from(found);
  const at = random.below(Math.max(1, changed.length));
  if ((changed[at] ?? 0) > 0x40 && (changed[at] ?? 0) < 0x7b) {
    changed[at] = 0x61 + random.below(26);
  }
  return changed;
}

/** A varint of as many bytes. */
export function otherVarint(found: Buffer, random: Random): Buffer {
  const changed = Buffer.from(found);
  changed[0] = ((changed[0] ?? 0) & 0x80) | random.below(128);
  return changed;
}

/** What texts are at their edges, in formats of bytes. */
export function edgeText(random: Random, bytes: Buffer): Buffer {
  if (bytes.length > 0 && random.chance(0.5)) {
    const changed = Buffer.from(bytes);
    changed[random.below(changed.length)] = 0x30 + random.below(75);
    return changed;
  }
  return random.pick(texts);
}

const texts: readonly Buffer[] = [
  ...["", "x", "__proto__", "constructor", "toString", "\u0000", "\u00e9", "\u{1f642}", "\ufeff", "NaN", "1e400", "-0", "c", "d", "true"],
  ...["__debezium_unavailable_value", "2017-09-15T12:34:56.123456789Z", "24:00:00", "infinity", "[1,2]", '{"a":1}', "9".repeat(400)],
].map((text) => Buffer.from(text));
const badTexts = ["eda080", "c080", "f4908080", "ff", "c3", "e282", "f09f99", "80", "c328"].map((hex) => Buffer.from(hex, "hex"));

/** Bytes that are no UTF-8, or UTF-8. */
export function anyText(random: Random, bytes: Buffer): Buffer {
  return random.chance(0.15) ? random.pick(badTexts) : edgeText(random, bytes);
}

export function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | 128);
  }
  return Buffer.from([...bytes, Number(rest)]);
}

export function zigZag(value: bigint): Buffer {
  return varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
}

/** Numbers at the edges of the types that hold them. */
export const edgeNumbers: readonly bigint[] = [0, 1, 7, 8, 31, 32, 53, 62, 63]
  .flatMap((bits) => [2n ** BigInt(bits), 2n ** BigInt(bits) - 1n, -(2n ** BigInt(bits)), -(2n ** BigInt(bits)) - 1n])
  .concat([2n ** 53n + 1n, 1_723_115_239_782_690_123n, 19_782n, -62_135_596_800_000n, 253_402_300_800_000n]);

/** Varints that no writer makes: too long, of too many bits, without an end. */
export const oddVarints: readonly Buffer[] = [
  "8000",
  "808080808000",
  "80808080808080808000",
  "8080808080808080808000",
  "80808080808080808002",
  "ffffffffffffffffff01",
  "ffffffffffffffffff7f",
  "ffffffffffffffffffff01",
  "80",
  "ffffff",
].map((hex) => Buffer.from(hex, "hex"));

/** A varint, read where nobody has changed anything yet. Null where there is none. */
export function varintAt(bytes: Buffer, start: number, end: number): { readonly value: bigint; readonly end: number } | null {
  let value = 0n;
  for (let at = start, shift = 0n; at < end && shift < 70n; at++, shift += 7n) {
    const byte = bytes[at] as number;
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) {
      return { value, end: at + 1 };
    }
  }
  return null;
}
