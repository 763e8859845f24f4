import { describe, expect, test } from "vitest";
import { recordOf } from "./record-of.ts";
import { bytesOf } from "./written-bytes.ts";

describe("written bytes", () => {
  test.each([
    ["é", "c3a9"],
    [Uint8Array.of(1, 2), "0102"],
    [{ hex: "00 0A" }, "000a"],
    [{ base64: "AAo=" }, "000a"],
    [[{ hex: "00" }, "ab", [Uint8Array.of(255), ""]], "006162ff"],
    ["", ""],
  ] as const)("%j is %s", (written, hex) => {
    expect(bytesOf(written).toString("hex")).toBe(hex);
  });

  test("null is null", () => {
    expect(bytesOf(null)).toBe(null);
  });

  test.each<[unknown, string]>([
    [undefined, "found Undefined"],
    [{ id: 1 }, "found Object; write JSON as text: JSON.stringify({ id: 1 })"],
    [5, "found Number"],
    [{ hex: "0x00" }, 'expected two hexadecimal digits a byte, found "0x00"'],
    [{ hex: "000" }, 'found "000"'],
    [{ base64: '{"id":1}' }, 'expected base64 with its padding, found "{\\"id\\":1}"'],
    [{ base64: "AAo" }, 'found "AAo"'],
  ])("what is no bytes, as %j, is refused with what is", (written, message) => {
    expect(() => bytesOf(written as string)).toThrow(message);
    expect(() => recordOf(written as string)).toThrow(message);
  });
});

describe("a record for a test", () => {
  test("is its value, and Kafka's least beside it", () => {
    expect(recordOf("é")).toEqual({ topic: "t", partition: 0, offset: 0n, timestamp: 0n, key: null, value: Buffer.from("é"), headers: [] });
    expect(recordOf(null).value).toBe(null);
    expect(recordOf("").value).toEqual(Buffer.alloc(0));
  });

  test("has what it is told, text as bytes and numbers as Kafka's", () => {
    const headers = [
      ["a", "b"],
      ["c", null],
    ] as const;
    expect(recordOf(Buffer.from([1]), { topic: "o", partition: 2, offset: 3, timestamp: 4n, key: "k", headers })).toEqual({
      topic: "o",
      partition: 2,
      offset: 3n,
      timestamp: 4n,
      key: Buffer.from("k"),
      value: Buffer.from([1]),
      headers: [
        ["a", Buffer.from("b")],
        ["c", null],
      ],
    });
  });
});
