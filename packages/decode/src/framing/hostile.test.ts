import { deflateRawSync, deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOf, framings, messageOf, openAll } from "./vectors.contract.ts";
import { glue } from "./glue/recognise.ts";
import type { Framing, Message, Payload } from "./framing.ts";
import { ocf } from "./ocf/recognise.ts";

const mebibyte = 1024 * 1024;
const glueHead = Buffer.from(`0305${"ab".repeat(16)}`, "hex");
const schema = Buffer.from('"int"');
const sync = Buffer.alloc(16, 7);

describe("the size that a few bytes unpack to is bounded", () => {
  test("a zip bomb in Glue framing", () => {
    const bomb = Buffer.concat([glueHead, deflateSync(Buffer.alloc(64 * mebibyte), { level: 9 })]);
    expect(bomb.length).toBeLessThan(70_000);
    expect(failureOf(glue, bomb)).toBe("limit-exceeded");
  });

  test("a message may not unpack to more than limits.maxMessageBytes", () => {
    const packed = Buffer.concat([glueHead, deflateSync(Buffer.alloc(2_000, 1))]);
    expect(payloadsOf(glue, packed, 2_000)[0]?.end).toBe(2_000);
    expect(failureOf(glue, packed, 1_999)).toBe("limit-exceeded");
  });

  test("a zip bomb in a container file", () => {
    expect(failureOf(ocf, file("deflate", block(1, deflateRawSync(Buffer.alloc(64 * mebibyte), { level: 9 }))))).toBe("limit-exceeded");
  });

  test("blocks of a container file are counted together", () => {
    const half = block(1, deflateRawSync(Buffer.alloc(6 * mebibyte), { level: 9 }));
    expect(payloadsOf(ocf, file("deflate", half))).toHaveLength(1);
    expect(failureOf(ocf, file("deflate", half, half))).toBe("limit-exceeded");
  });

  test("a snappy block that states four gigabytes", () => {
    expect(failureOf(ocf, file("snappy", block(1, Buffer.from("ffffffff0f00000000000000", "hex"))))).toBe("limit-exceeded");
  });
});

describe("a damaged or hostile container file is refused", () => {
  test.each([
    ["a count that is negative", file("null", Buffer.concat([zigZag(-1), zigZag(0), sync])), "malformed"],
    ["a size that is negative", file("null", Buffer.concat([zigZag(1), zigZag(-1), sync])), "malformed"],
    ["a size beyond the end", file("null", Buffer.concat([zigZag(1), zigZag(2 ** 40), sync])), "truncated"],
    ["a count beyond all integers", file("null", Buffer.concat([Buffer.alloc(10, 0xff), sync])), "truncated"],
    ["another sync marker", file("null", Buffer.concat([zigZag(1), zigZag(1), Buffer.from([2]), Buffer.alloc(16)])), "malformed"],
    ["no schema", Buffer.concat([Buffer.from("Obj\u0001"), zigZag(0), sync]), "malformed"],
    ["an unknown codec", file("own-codec", block(1, Buffer.from([2]))), "unsupported-format"],
    ["more meta data than bytes", Buffer.concat([Buffer.from("Obj\u0001"), zigZag(2 ** 40), Buffer.alloc(40)]), "truncated"],
    [
      "deflate data with more bytes after it",
      file("deflate", block(1, Buffer.concat([deflateRawSync(Buffer.from([2])), Buffer.from([0])]))),
      "trailing-bytes",
    ],
    ["a snappy block without a checksum", file("snappy", block(1, Buffer.from("010002", "hex"))), "malformed"],
    ["a snappy block with a wrong checksum", file("snappy", block(1, Buffer.from("01000200000000", "hex"))), "malformed"],
    ["a snappy copy from before the block", file("snappy", block(1, Buffer.from("050101 00000000".replace(" ", ""), "hex"))), "malformed"],
  ])("%s", (_, bytes, code) => {
    expect(failureOf(ocf, bytes)).toBe(code);
  });

  test("a metadata map in blocks with stated sizes is read, as the specification allows", () => {
    const entries = Buffer.concat([zigZag(11), Buffer.from("avro.schema"), zigZag(schema.length), schema]);
    const bytes = Buffer.concat([
      Buffer.from("Obj\u0001"),
      zigZag(-1),
      zigZag(entries.length),
      entries,
      zigZag(0),
      sync,
      block(1, Buffer.from([2])),
    ]);
    expect(payloadsOf(ocf, bytes).map(({ count }) => count)).toEqual([1]);
  });
});

test("any bytes after any framing's mark are opened or throw a DecodeError", () => {
  const marks = ["", "4f626a01", "c301", "0300", "0305", "00", "01", "0000000000", "2c", "20", "7b22736368656d614964223a35"];
  fc.assert(
    fc.property(fc.constantFrom(...marks), fc.uint8Array({ maxLength: 120 }), fc.constantFrom("key", "value"), (mark, rest, side) => {
      const message: Message = {
        ...messageOf({ name: "", from: "", value: { hex: "" }, framing: "" }, Buffer.concat([Buffer.from(mark, "hex"), rest])),
        side: side as "key" | "value",
      };
      for (const framing of framings.filter((one) => one.recognise(message) !== null)) {
        expect(codeOf(() => openAll(framing, message))).not.toBe("");
      }
    }),
    { numRuns: 2_000 },
  );
});

function payloadsOf(framing: Framing, bytes: Buffer, maxBytes?: number): readonly Payload[] {
  const message = messageOf({ name: "", from: "", value: { hex: "" }, framing: "" }, bytes, maxBytes);
  expect(framing.recognise(message)).not.toBeNull();
  return framing.open(message).payloads;
}

function failureOf(framing: Framing, bytes: Buffer, maxBytes?: number): string | null {
  return codeOf(() => payloadsOf(framing, bytes, maxBytes));
}

function file(codec: string, ...blocks: readonly Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from("Obj\u0001"),
    zigZag(2),
    ...["avro.schema", schema, "avro.codec", Buffer.from(codec)].flatMap((part) => [zigZag(part.length), Buffer.from(part)]),
    zigZag(0),
    sync,
    ...blocks,
  ]);
}

function block(count: number, bytes: Buffer): Buffer {
  return Buffer.concat([zigZag(count), zigZag(bytes.length), bytes, sync]);
}

function zigZag(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value) < 0n ? -2n * BigInt(value) - 1n : 2n * BigInt(value);
  for (; rest > 127n; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | 128);
  }
  return Buffer.from([...bytes, Number(rest)]);
}
