import { describe, expect, test } from "vitest";
import { createDecoder } from "./decoder.ts";
import type { KafkaRecord } from "./record.ts";

const record = { topic: "t", partition: 0, offset: 5n, timestamp: 0n, key: null, value: Buffer.from('{"id":1}'), headers: [] };

function failureOf(wrong: unknown): Error {
  try {
    void createDecoder().decode(wrong as KafkaRecord);
  } catch (error) {
    return error as Error;
  }
  return new Error("nothing was thrown");
}

describe("a record that is none", () => {
  test.each<[string, unknown, RegExp]>([
    ["text as its value", { ...record, value: '{"secret":1}' }, /^expected record\.value to be bytes .* found string: pass the bytes/],
    ["text as its key", { ...record, key: "secret" }, /^expected record\.key to be bytes .* found string: pass the bytes/],
    [
      "no value",
      { topic: "t", partition: 0, offset: 5n, timestamp: 0n, key: null, headers: [] },
      /^expected record\.value .* found undefined/,
    ],
    ["no headers", { ...record, headers: undefined }, /^expected record\.headers to be an array .* found undefined: pass \[\]/],
    [
      "no headers and kafkajs' offset",
      { ...record, offset: "5", headers: undefined },
      /^expected record\.offset .*BigInt\(message\.offset\)/,
    ],
    ["nothing", undefined, /^expected a record with topic, .* found undefined/],
  ])("is a TypeError that names its wrong part: %s", async (_what, wrong, message) => {
    const error = failureOf(wrong);
    expect(error).toBeInstanceOf(TypeError);
    await expect(createDecoder().explain(wrong as KafkaRecord)).rejects.toMatchObject({ name: "TypeError", message: error.message });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("secret");
  });

  test("does not hide what is wrong with its bytes if those are bytes", () => {
    expect(failureOf({ ...record, offset: "5", value: Buffer.from([0x7b, 0xff]) }).name).toBe("DecodeError");
  });
});
