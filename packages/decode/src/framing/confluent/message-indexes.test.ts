import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { confluentChoices, type IndexTolerance, readMessageIndexes } from "./message-indexes.ts";

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}

function choices(text: string, tolerance?: IndexTolerance): unknown {
  const batch = Buffer.concat([hex("ff ff"), hex(text), hex("00 02 04")]); // the bytes before and after the payload must not be read
  try {
    return confluentChoices(batch, 2, batch.length - 3, tolerance);
  } catch (error) {
    return isDecodeError(error) ? error.code : error;
  }
}

function path(indexes: readonly number[], length: number): unknown {
  return { message: { kind: "path", path: indexes }, length };
}

function counted(indexes: readonly number[], length: number): unknown {
  return { message: { kind: "path", path: indexes, mapEntries: true }, length };
}

describe("message indexes as Confluent's serializers write them", () => {
  const vectors: readonly (readonly [string, readonly number[]])[] = [
    ["00", [0]],
    ["02 00", [0]],
    ["02 02", [1]],
    ["04 02 00", [1, 0]],
    ["04 04 06", [2, 3]],
    ["04 00 00", [0, 0]],
    ["02 80 01", [64]],
    ["06 02 7e 80 01", [1, 63, 64]],
  ];
  for (const [bytes, indexes] of vectors) {
    test(`${bytes} is the path ${indexes.join(".")}`, () => {
      const whole = hex(`${bytes} 08 01`);
      expect(readMessageIndexes(whole, 0, whole.length)).toEqual({ path: indexes, length: whole.length - 2 });
    });
  }
  test("a path of one index chooses one message, with map entries counted or not", () => {
    expect(choices("02 02 08 01")).toEqual([path([1], 2)]);
  });
  test("a longer path gives a second choice that counts map entries, as Python's and Go's writers do", () => {
    expect(choices("04 02 00 08 01")).toEqual([path([1, 0], 3), counted([1, 0], 3)]);
  });
});

describe("invalid message indexes", () => {
  const vectors: readonly (readonly [string, string, string])[] = [
    ["no bytes", "", "truncated"],
    ["a count alone", "04", "truncated"],
    ["a varint that breaks off", "04 80", "truncated"],
    ["a negative count", "01", "malformed"],
    ["a negative index", "02 01", "malformed"],
    ["more than 128 indexes", "82 02", "malformed"],
    ["a count of more than 32 bits", "fe ff ff ff ff 0f", "malformed"],
    ["an index of more than 32 bits", "02 fe ff ff ff ff 01", "malformed"],
    ["a varint that never ends", "80 80 80 80 80 80 80 80 80 80 80 80", "malformed"],
  ];
  for (const [name, bytes, code] of vectors) {
    test(`${name}: ${code}`, () => {
      expect(choices(bytes)).toBe(code);
    });
  }
  test("128 indexes are still read", () => {
    expect(readMessageIndexes(hex(`80 02 ${"00".repeat(128)}`), 0, 130)).toEqual({ path: Array(128).fill(0), length: 130 });
  });
});

describe("message indexes of other writers", () => {
  test("Apicurio's name of the type is a choice that names Apicurio's framing", () => {
    expect(choices("03 0a 01 41 08 01")).toEqual([{ message: { kind: "name", name: "A" }, length: 4, framing: "apicurio" }]);
  });
  test("bytes that both forms can read give both choices, Confluent's first", () => {
    expect(choices("04 0a 02 41 42")).toEqual([
      path([5, 1], 3),
      counted([5, 1], 3),
      { message: { kind: "name", name: "AB" }, length: 5, framing: "apicurio" },
    ]);
  });
  test(".NET's reversed path comes after the right one if it is allowed", () => {
    expect(choices("04 02 00", { reversed: true })).toEqual([path([1, 0], 3), counted([1, 0], 3), path([0, 1], 3), counted([0, 1], 3)]);
  });
  test("missing indexes choose the first message if that is allowed", () => {
    expect(choices("01 05", { missing: true })).toEqual([path([0], 0)]);
    expect(choices("", { missing: true })).toEqual([path([0], 0)]);
  });
  test("plain varints are read if that is allowed", () => {
    expect(choices("01 01 08 01", { unsigned: true })).toEqual([path([1], 2)]);
  });
});
