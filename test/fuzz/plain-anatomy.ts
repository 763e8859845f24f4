import { type Anatomy, anyText, type Part, type DeclaredLength } from "./anatomy.ts";
import type { PlainName } from "./vector-seeds.ts";
import type { Random } from "./random.ts";

/** The items of a MessagePack or CBOR value that stands at the beginning of the bytes. */
export function plainAnatomy(bytes: Buffer, encoding: PlainName): Anatomy {
  const parts: Part[] = [];
  const walk: Walk = { bytes, parts, headAt: encoding === "cbor" ? cborHeadAt : messagePackHeadAt };
  walkItem(walk, 0, null, 0);
  return { parts, edge: (part, random) => plainEdge(part, random, bytes, encoding) };
}

/** The first bytes of an item: what it is, and how much of it there is. */
interface Head {
  readonly end: number;
  readonly kind: "scalar" | "text" | "bytes" | "array" | "map" | "tag";
  /** Bytes, items or pairs; -1 for an open end. */
  readonly size: number;
  readonly write: (size: number) => Buffer;
}

interface Walk {
  readonly bytes: Buffer;
  readonly parts: Part[];
  readonly headAt: (bytes: Buffer, at: number) => Head | null;
}

/** Where the item ends; -1 where it does not. */
function walkItem(walk: Walk, start: number, countedBy: DeclaredLength | null, depth: number): number {
  const head = depth < 100 ? walk.headAt(walk.bytes, start) : null;
  if (head === null || head.end > walk.bytes.length || walk.parts.length > 4_000) {
    return -1;
  }
  const { parts } = walk;
  const declared: DeclaredLength = { start, end: head.end, value: head.size, write: head.write, inside: null };
  parts.push({ start, end: head.end, kind: "head", inside: null, countedBy: null });
  const end = walkContent(walk, head, declared, depth);
  if (end > walk.bytes.length || end < 0) {
    return -1;
  }
  parts.push({ start, end, kind: "item", inside: null, countedBy });
  return end;
}

function walkContent(walk: Walk, { kind, end, size }: Head, declared: DeclaredLength, depth: number): number {
  if (kind === "scalar") {
    return end;
  }
  if (kind === "tag") {
    return walkItem(walk, end, null, depth + 1);
  }
  if (size < 0) {
    return walkOpen(walk, end, depth);
  }
  if (kind === "text" || kind === "bytes") {
    walk.parts.push({ start: end, end: end + size, kind, inside: declared, countedBy: null });
    return end + size;
  }
  let at = end;
  for (let i = 0; i < size && at >= 0; i++) {
    const from = at;
    at = walkItem(walk, at, kind === "array" ? declared : null, depth + 1);
    if (kind === "map" && at >= 0) {
      at = walkItem(walk, at, null, depth + 1);
      walk.parts.push({ start: from, end: at, kind: "pair", inside: null, countedBy: declared });
    }
  }
  return at;
}

/** Items until the break of CBOR. */
function walkOpen(walk: Walk, start: number, depth: number): number {
  let at = start;
  while (at >= 0 && at < walk.bytes.length && walk.bytes[at] !== 0xff) {
    at = walkItem(walk, at, null, depth + 1);
  }
  return at < 0 ? -1 : at + 1;
}

function messagePackHeadAt(bytes: Buffer, at: number): Head | null {
  const first = bytes[at];
  if (first === undefined) {
    return null;
  }
  const head = (width: number, kind: Head["kind"], size: number, write: Head["write"]): Head => ({
    end: at + 1 + width,
    kind,
    size,
    write,
  });
  const none = (): Buffer => bytes.subarray(at, at + 1);
  if (first < 0x80 || first >= 0xe0) {
    return head(0, "scalar", 0, none);
  }
  if (first < 0xc0) {
    const [kind, size, base, wide] =
      first < 0x90
        ? (["map", first & 15, 0x80, 0xde] as const)
        : first < 0xa0
          ? (["array", first & 15, 0x90, 0xdc] as const)
          : (["text", first & 31, 0xa0, 0xda] as const);
    return head(0, kind, size, (to) => (to <= (kind === "text" ? 31 : 15) && to >= 0 ? Buffer.from([base + to]) : sized(wide, 2, to)));
  }
  const row = wideHeads[first];
  if (row === undefined) {
    return head(scalarWidths[first] ?? 0, "scalar", 0, none);
  }
  const [kind, width] = row;
  return at + 1 + width > bytes.length ? null : head(width, kind, bytes.readUIntBE(at + 1, width), (to) => sized(first, width, to));
}

const wideHeads: Readonly<Record<number, readonly ["text" | "bytes" | "array" | "map", number]>> = {
  0xc4: ["bytes", 1],
  0xc5: ["bytes", 2],
  0xc6: ["bytes", 4],
  0xd9: ["text", 1],
  0xda: ["text", 2],
  0xdb: ["text", 4],
  0xdc: ["array", 2],
  0xdd: ["array", 4],
  0xde: ["map", 2],
  0xdf: ["map", 4],
};

/** Of what stands behind the head, its type of extension included. */
const scalarWidths: Readonly<Record<number, number>> = {
  0xca: 4,
  0xcb: 8,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
  0xd0: 1,
  0xd1: 2,
  0xd2: 4,
  0xd3: 8,
  0xd4: 2,
  0xd5: 3,
  0xd6: 5,
  0xd7: 9,
  0xd8: 17,
};

const cborKinds = ["scalar", "scalar", "bytes", "text", "array", "map", "tag", "scalar"] as const;

function cborHeadAt(bytes: Buffer, at: number): Head | null {
  const first = bytes[at];
  if (first === undefined) {
    return null;
  }
  const [major, info] = [first >> 5, first & 31];
  const width = [1, 2, 4, 8][info - 24] ?? 0;
  if (at + 1 + width > bytes.length) {
    return null;
  }
  const wide = width === 8 ? Number(bytes.readBigUInt64BE(at + 1)) : width > 0 ? bytes.readUIntBE(at + 1, width) : info;
  const write = (to: number): Buffer =>
    to >= 0 && to < 24 && width === 0 ? Buffer.from([(major << 5) | to]) : sized((major << 5) | 25, 2, to);
  return { end: at + 1 + width, kind: cborKinds[major] ?? "scalar", size: info === 31 ? -1 : wide, write };
}

function sized(first: number, width: number, size: number): Buffer {
  const bytes = Buffer.alloc(1 + width, first);
  bytes.writeUIntBE(Math.max(0, Math.min(size, 2 ** (8 * width) - 1)), 1, width);
  return bytes;
}

function plainEdge({ kind, start, end }: Part, random: Random, bytes: Buffer, encoding: PlainName): Buffer {
  const found = bytes.subarray(start, end);
  switch (kind) {
    case "text":
      return anyText(random, found);
    case "bytes":
      return Buffer.from(Array.from({ length: random.below(20) }, () => random.below(256)));
    case "head":
      return random.chance(0.5) ? Buffer.from([random.below(256)]) : random.pick(heads[encoding]);
    default:
      return random.chance(0.7) ? random.pick(items[encoding]) : found;
  }
}

const hexes = (text: string): readonly Buffer[] => text.split(" ").map((hex) => Buffer.from(hex, "hex"));

/** Sizes at their edges, and what is no head at all. */
const heads: Readonly<Record<PlainName, readonly Buffer[]>> = {
  msgpack: hexes(
    "c1 80 8f 90 9f a0 bf c4ff c6ffffffff dbffffffff ddffffffff dfffffffff dd00010000 dc0000 de0000 d9ff c8ffff05 c9ffffffff05",
  ),
  cbor: hexes("1c 3f 5f 7f 9f bf ff 9bffffffffffffffff bbffffffffffffffff 5affffffff 7bffffffffffffffff 9a00010000 c2 c4 c5 d82a fc f8ff"),
};

/** Values at their edges: numbers, names, texts that are none, extensions and tags, values in each other. */
const items: Readonly<Record<PlainName, readonly Buffer[]>> = {
  msgpack: hexes(
    "c0 c2 c3 00 7f e0 ff ccff cdffff ceffffffff cfffffffffffffffff cf0020000000000001 d080 d38000000000000000 d3ffdfffffffffffff " +
      "ca7fc00000 cb7ff0000000000000 cb8000000000000000 a0 a178 a95f5f70726f746f5f5f a3eda080 c400 c401ff 90 9101 80 81a16101 " +
      "81a95f5f70726f746f5f5f8101c0 82a1610181a16102c0 8101c0 81c0c0 819001 d6ff00000001 d7ff000000010000000 d40100 c70cff3b9ac9ff8000000000000000 " +
      "9191919191919191919101",
  ),
  cbor: hexes(
    "f6 f7 f4 f5 00 17 1818 1bffffffffffffffff 1b0020000000000001 3bffffffffffffffff 20 f97e00 f97c00 f98000 fb7ff0000000000000 fa7fc00000 " +
      "60 6178 695f5f70726f746f5f5f 63eda080 40 41ff 80 8101 a0 a1616101 a1695f5f70726f746f5f5fa101f6 a2616101616102 a101f6 a1f6f6 9fff bfff " +
      "bf616101ff 5fff 7f6161ff c249010000000000000000 c349ffffffffffffffffff c48221196ab3 c5822003 c11a514b67b0 c0743230 d82540 d9d9f700 c48239ffff01 " +
      "8181818181818181818101 f0 f820",
  ),
};
