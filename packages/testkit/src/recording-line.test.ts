import { describe, expect, test } from "vitest";
import { parseRecordingLine } from "./recording-line.ts";

const complete = {
  topic: "shop.orders",
  partition: 3,
  offset: "9223372036854775807",
  timestamp: "1795245413377",
  headers: [
    ["a", "AQI="],
    ["a", null],
  ],
  key: "AA==",
  value: null,
};

describe("a line of a recording", () => {
  test("keeps what Kafka says of the record", () => {
    expect(parseRecordingLine(JSON.stringify(complete))).toEqual({
      topic: "shop.orders",
      partition: 3,
      offset: 9223372036854775807n,
      timestamp: 1795245413377n,
      headers: [
        ["a", Buffer.from([1, 2])],
        ["a", null],
      ],
      key: Buffer.from([0]),
      value: null,
    });
  });

  test("may leave timestamp and headers out, and may write numbers", () => {
    const record = parseRecordingLine('{"topic":"t","partition":0,"offset":7,"key":null,"value":""}');
    expect(record).toEqual({ topic: "t", partition: 0, offset: 7n, timestamp: -1n, headers: [], key: null, value: Buffer.alloc(0) });
  });

  test.each([
    ["not JSON", "{", "it is not JSON"],
    ["not an object", "[1]", "it is not a JSON object"],
    ["no topic", JSON.stringify({ ...complete, topic: undefined }), '"topic"'],
    ["a negative partition", JSON.stringify({ ...complete, partition: -1 }), '"partition"'],
    ["a fractional offset", JSON.stringify({ ...complete, offset: 1.5 }), '"offset"'],
    ["an offset that a double cannot hold", '{"topic":"t","partition":0,"offset":9007199254740993,"key":null,"value":null}', '"offset"'],
    ["text as a timestamp", JSON.stringify({ ...complete, timestamp: "today" }), '"timestamp"'],
    ["a value that is no base64", JSON.stringify({ ...complete, value: "%%%%" }), '"value"'],
    ["base64 that was cut off", JSON.stringify({ ...complete, value: "AAA" }), '"value"'],
    ["padding in the middle", JSON.stringify({ ...complete, value: "A=AA" }), '"value"'],
    ["a missing value", JSON.stringify({ ...complete, value: undefined }), '"value"'],
    ["headers as an object", JSON.stringify({ ...complete, headers: { a: "AA==" } }), '"headers"'],
    ["a header of one part", JSON.stringify({ ...complete, headers: [["a"]] }), '"headers"'],
  ])("with %s is refused by the name of the field", (_case, line, said) => {
    expect(() => parseRecordingLine(line)).toThrow(said);
  });

  test("is not quoted when it is refused", () => {
    expect(() => parseRecordingLine('{"topic":"t", "secret"')).toThrow(/^(?!.*secret)/);
  });
});
