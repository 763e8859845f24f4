import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { limitDefaults, type ResolvedLimits } from "../../options.ts";
import { readCanalPacket } from "./reader.ts";

/** Canal's own classes wrote these. */
const vectors = readFileSync(join(import.meta.dirname, "../../../../../test/vectors/decode/canal-protobuf.ndjson"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Buffer.from((JSON.parse(line) as { value: { base64: string } }).value.base64, "base64"));

function outcome(bytes: Buffer, limits: ResolvedLimits = limitDefaults): unknown {
  try {
    return typeof readCanalPacket(bytes, 0, bytes.length, limits);
  } catch (error) {
    return isDecodeError(error) ? error.code : error;
  }
}

test("a packet of a type other than MESSAGES is refused", () => {
  expect(outcome(Buffer.from([0x18, 3]))).toBe("unknown-format");
  expect(outcome(Buffer.alloc(0))).toBe("unknown-format");
});

test("a packet that is marked as compressed is refused", () => {
  expect(outcome(Buffer.from([0x18, 7, 0x20, 2]))).toBe("unsupported-format");
  expect(outcome(Buffer.from([0x18, 7, 0x20, 1]))).toBe("object");
});

test("entries without bytes are refused above the cost limit", () => {
  const entries = Buffer.from([0x12, 0]);
  const body = Buffer.concat(Array.from({ length: 8_000 }, () => entries));
  const packet = Buffer.concat([Buffer.from([0x18, 7, 0x2a, 0x80, 0x7d]), body]); // a body of 16,000 bytes
  expect(outcome(packet)).toBe("object");
  expect(outcome(packet, { ...limitDefaults, maxCostPerByte: 10 })).toBe("limit-exceeded");
});

test("rows without bytes are refused above the cost limit of all entries, and rows of small columns are read", () => {
  const length = (number: number, content: Buffer): Buffer => {
    const bytes = [number * 8 + 2];
    for (let rest = content.length; ; rest >>>= 7) {
      bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
      if (rest <= 127) {
        return Buffer.concat([Buffer.from(bytes), content]);
      }
    }
  };
  const packet = (count: number, storeValue: Buffer): Buffer => {
    const entry = length(2, Buffer.concat([Buffer.from([0x10, 2]), length(3, storeValue)]));
    return Buffer.concat([Buffer.from([0x18, 7]), length(5, Buffer.concat(new Array<Buffer>(count).fill(entry)))]);
  };
  const nothing = Buffer.alloc(400, Buffer.from([12 * 8 + 2, 0]));
  expect(outcome(packet(2_500, nothing))).toBe("limit-exceeded");
  const column = Buffer.concat([
    Buffer.from([0x10, 4, 0x20, 1, 0x30, 0]),
    length(3, Buffer.from("id")),
    length(8, Buffer.from("1")),
    length(10, Buffer.from("bigint")),
  ]);
  const rows = Buffer.concat(new Array<Buffer>(20).fill(length(12, length(2, column))));
  expect(outcome(packet(1_500, rows))).toBe("object");
  expect(outcome(packet(7_000, length(12, length(2, column))))).toBe("object");
  const columns = length(12, Buffer.alloc(16, Buffer.from([10, 0])));
  expect(outcome(packet(10_000, columns))).toBe("limit-exceeded");
});

test("a packet cut at any byte ends in a DecodeError, or is a shorter packet", () => {
  for (const bytes of vectors) {
    for (let length = 0; length < bytes.length; length++) {
      expect(outcome(bytes.subarray(0, length))).toEqual(expect.any(String));
    }
  }
});

test("a packet with any byte changed gives a value or a DecodeError", () => {
  const change = fc.record({ vector: fc.nat(vectors.length - 1), at: fc.nat(), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const bytes = Buffer.from(vectors[changes[0]?.vector ?? 0] as Buffer);
      for (const { at, byte } of changes) {
        bytes[at % bytes.length] = byte;
      }
      expect(outcome(bytes)).toEqual(expect.any(String));
    }),
    { numRuns: 500 },
  );
});
