import { describe, expect, test } from "vitest";
import type { Message, Side } from "../framing.ts";
import { ticdc, ticdcMaxwell } from "./recognise.ts";

function message(side: Side, hex: string): Message {
  const bytes = Buffer.from(hex.replaceAll(" ", ""), "hex");
  return { side, bytes, start: 0, end: bytes.length, headers: [], maxBytes: 1024 };
}

const version = "0000000000000001";
/** `{}` and `{"a":1}`, each after its length. */
const two = "0000000000000002 7b7d 0000000000000007 7b2261223a317d";

/** Layout: https://docs.pingcap.com/tidb/stable/ticdc-open-protocol#message-format */
describe("TiCDC's open protocol", () => {
  test("a key has its version before its documents", () => {
    const key = message("key", version + two);
    expect(ticdc.recognise(key)).toContain("version 1");
    expect(ticdc.open(key).payloads.map(({ start, end }) => [start, end])).toEqual([
      [16, 18],
      [26, 33],
    ]);
  });

  test("a value has only documents, and a value without a document is read as an empty object", () => {
    const textsOf = (hex: string): string[] =>
      ticdc.open(message("value", hex)).payloads.map(({ bytes, start, end }) => bytes.toString("utf8", start, end));
    expect(textsOf(two)).toEqual(["{}", '{"a":1}']);
    expect(textsOf("0000000000000000")).toEqual(["{}"]);
  });

  test("rows of its Maxwell protocol are written one after another", () => {
    const rows = ['{"database":"a","data":{"x":"}\\"{"}}', '{"database":"b"}', '{"database":"c"}'];
    const { bytes, ...rest } = message("value", Buffer.from(rows.join("")).toString("hex"));
    const { payloads } = ticdcMaxwell.open({ bytes, ...rest });
    expect(payloads.map(({ start, end }) => bytes.toString("utf8", start, end))).toEqual(rows);
  });

  test("more documents than TiCDC would pack are refused", () => {
    expect(() => ticdc.open(message("value", "00000000000000027b7d".repeat(10_000)))).toThrow("limit-exceeded");
  });

  test.each<[string, Side, string]>([
    ["nothing", "value", ""],
    ["an empty document among others", "value", `${two} 0000000000000000`],
    ["zeros", "value", "00".repeat(64)],
    ["a key without documents", "key", version],
    ["a key of another version", "key", `0000000000000002${two}`],
    ["a key that is a long", "key", "000000000000002a"],
    ["a value that is cut", "value", two.slice(0, -2)],
    ["one more byte at the end", "value", `${two}00`],
    ["a document that is not an object", "value", "0000000000000002 5b5d"],
    ["a length of four gigabytes", "value", "0000000100000002 7b7d"],
    ["Confluent's prefix", "value", "0000000002 7b7d"],
    ["plain JSON", "value", "7b7d"],
    ["one row of Maxwell", "value", Buffer.from('{"database":"a"}').toString("hex")],
    ["rows of Maxwell that are cut", "value", Buffer.from('{"database":"a"}{"database":"b"').toString("hex")],
    ["rows of Maxwell and other bytes", "value", Buffer.from('{"database":"a"}{"database":"b"}x').toString("hex")],
  ])("%s is not recognised", (_, side, hex) => {
    expect(ticdc.recognise(message(side, hex))).toBeNull();
    expect(ticdcMaxwell.recognise(message(side, hex))).toBeNull();
  });
});
