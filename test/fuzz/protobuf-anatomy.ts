import {
  type Anatomy,
  anyText,
  edgeNumbers,
  oddVarints,
  otherLetter,
  otherVarint,
  type Part,
  type DeclaredLength,
  varint,
  varintAt,
} from "./anatomy.ts";
import type { Random } from "./random.ts";

/** The fields of a message that stands at the end of the bytes, by their wire types alone. Null where there is none. */
export function protobufAnatomy(bytes: Buffer, start: number): Anatomy | null {
  const parts: Part[] = [];
  return walkMessage(bytes, start, bytes.length, null, parts, 0) ? { parts, edge: protobufEdge, similar: similarProtobuf } : null;
}

function walkMessage(bytes: Buffer, start: number, end: number, inside: DeclaredLength | null, parts: Part[], depth: number): boolean {
  let at = start;
  while (at < end) {
    const tag = varintAt(bytes, at, end);
    if (tag === null || tag.value >> 3n === 0n || tag.value > 2n ** 18n) {
      return false;
    }
    parts.push({ start: at, end: tag.end, kind: "tag", inside, countedBy: null });
    const next = walkContent({ bytes, start: tag.end, end, inside, parts, depth }, Number(tag.value & 7n));
    if (next < 0) {
      return false;
    }
    parts.push({ start: at, end: next, kind: "field", inside, countedBy: null });
    at = next;
  }
  return true;
}

interface Content {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly inside: DeclaredLength | null;
  readonly parts: Part[];
  readonly depth: number;
}

/** Where the field ends; -1 where it does not. Groups are fields of their own here: their ends match where nobody has changed them. */
function walkContent(content: Content, wire: number): number {
  const { bytes, start, end, inside, parts } = content;
  const fixed = (size: number, kind: string): number => {
    parts.push({ start, end: start + size, kind, inside, countedBy: null });
    return start + size <= end ? start + size : -1;
  };
  switch (wire) {
    case 0: {
      const value = varintAt(bytes, start, end);
      return value === null ? -1 : fixed(value.end - start, "varint");
    }
    case 1:
      return fixed(8, "fixed64");
    case 5:
      return fixed(4, "fixed32");
    case 2:
      return walkSized(content);
    default:
      return wire === 3 || wire === 4 ? start : -1;
  }
}

function walkSized({ bytes, start, end, inside, parts, depth }: Content): number {
  const length = varintAt(bytes, start, end);
  if (length === null || length.value > BigInt(end - length.end)) {
    return -1;
  }
  const declared: DeclaredLength = { start, end: length.end, value: Number(length.value), write: (size) => varint(BigInt(size)), inside };
  const last = length.end + declared.value;
  parts.push({ start, end: length.end, kind: "length", inside, countedBy: null });
  const nested: Part[] = [];
  if (depth < 12 && declared.value > 1 && walkMessage(bytes, length.end, last, declared, nested, depth + 1)) {
    parts.push(...nested, { start: length.end, end: last, kind: "message", inside: declared, countedBy: null });
  } else {
    parts.push({ start: length.end, end: last, kind: "content", inside: declared, countedBy: null });
  }
  return last;
}

function protobufEdge({ kind, start, end }: Part, random: Random, bytes: Buffer): Buffer {
  const found = bytes.subarray(start, end);
  switch (kind) {
    case "tag":
      return otherTag(found, random);
    case "varint":
    case "length":
      return random.chance(0.1) ? random.pick(oddVarints) : varint(random.pick(edgeNumbers));
    case "fixed32":
    case "fixed64":
      return Buffer.from(Array.from({ length: found.length }, () => random.pick([0, 1, 0x7f, 0x80, 0xf0, 0xff, 0x40])));
    case "content":
      return anyText(random, found);
    case "message":
      return random.pick([Buffer.alloc(0), Buffer.concat([found, found]), Buffer.from([0x08, 0x01]), nested(found, random)]);
    default:
      return Buffer.concat([found, random.pick(moreFields)]);
  }
}

/** Another field number, or another wire type. */
function otherTag(found: Buffer, random: Random): Buffer {
  const tag = varintAt(found, 0, found.length)?.value ?? 8n;
  const [number, wire] = [tag >> 3n, tag & 7n];
  return random.chance(0.5) ? varint((BigInt(1 + random.below(40)) << 3n) | wire) : varint((number << 3n) | BigInt(random.below(8)));
}

function nested(found: Buffer, random: Random): Buffer {
  let message = found;
  for (let depth = 1 + random.below(80); depth > 0; depth--) {
    message = Buffer.concat([Buffer.from([0x0a + 8 * random.below(3)]), varint(BigInt(message.length)), message]);
  }
  return message;
}

/** Fields that nobody knows: of each wire type, groups whole and broken, the number 0, numbers beyond. */
const moreFields: readonly Buffer[] = [
  "f80601",
  "fa0600",
  "fa0603616263",
  "fd0600000000",
  "f9060000000000000000",
  "fb06fc06",
  "fb060801fc06",
  "fb06fb06fc06fc06",
  "fb06",
  "fc06",
  "0001",
  "f8ffffff7f01",
  "8a80808010",
].map((hex) => Buffer.from(hex, "hex"));

function similarProtobuf({ kind, start, end }: Part, random: Random, bytes: Buffer): Buffer {
  const found = bytes.subarray(start, end);
  return kind === "content" ? otherLetter(found, random) : kind === "varint" ? otherVarint(found, random) : found;
}
