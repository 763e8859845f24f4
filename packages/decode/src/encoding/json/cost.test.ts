import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder, type Decoder } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits } from "../../options.ts";
import type { KafkaRecord } from "../../record.ts";
import { checkJsonCost } from "./cost.ts";

const mib = 2 ** 20;

function codeOf(text: string, start = 0, limits = resolveLimits()): string | null {
  const bytes = Buffer.from(text);
  try {
    checkJsonCost(bytes, start, bytes.length, limits);
    return null;
  } catch (error) {
    return isDecodeError(error) ? error.message : "another error";
  }
}

function list(count: number, item: (i: number) => string): string {
  return `{"a":[${Array.from({ length: count }, (_, i) => item(i)).join()}]}`;
}

const names = (count: number): string => Array.from({ length: count }, (_, i) => `"column_${i}":${i}`).join();

const rows: readonly (readonly [string, string])[] = [
  ["a vector of 16,384 numbers", list(16_384, (i) => String(i / 16_384))],
  ["a MiB of small integers", list(mib / 2, () => "1")],
  ["a MiB of small records", list(mib / 20, (i) => `{"id":${i % 10},"name":"a"}`)],
  ["ten thousand rows of one table", list(10_000, (i) => `{"id":"${i}","name":"a name","at":"2026-01-01 00:00:00","note":null}`)],
  ["a row of 2,000 columns, before and after", `{"before":{${names(2_000)}},"after":{${names(2_000)}}}`],
  ["a map of ten thousand keys", `{"a":{${names(10_000)}}}`],
  ["a text of a MiB with a quote in it", `{"a":"${"x".repeat(mib)}\\"[[[["}`],
  ["less than 128 KiB of anything", "{".repeat(2 ** 17 - 1)],
];

test.each(rows)("%s may be read", (_, text) => {
  expect(codeOf(text)).toBeNull();
});

const attacks: readonly (readonly [string, string, string])[] = [
  ["a hundred thousand different names", `{${names(100_000)}}`, "names beyond the first 1024"],
  ["such names with white space after them", `{${names(60_000).replaceAll(":", " :")}}`, "names beyond the first 1024"],
  ["empty objects", list(mib / 3, () => "{}"), "objects"],
  ["texts of one escape each", list(mib / 5, () => '"\\n"'), "texts"],
];

test.each(attacks)("%s are refused with what was found and the option that allows them", (_, text, found) => {
  const message = codeOf(text);
  expect(message).toContain("[limit-exceeded]");
  expect(message).toContain(found);
  expect(message).toContain("raise limits.maxCostPerByte");
});

test("a higher limit allows what the default refuses", () => {
  expect(
    codeOf(
      list(mib / 3, () => "{}"),
      0,
      resolveLimits({ maxCostPerByte: 200 }),
    ),
  ).toBeNull();
});

test("a message of twice the length may hold twice as much", () => {
  const text = list(70_000, () => '{"x":1000000}');
  expect(codeOf(text)).toBeNull();
  expect(codeOf(text + text)).toBeNull();
});

function outcome(decoder: Decoder, value: Buffer): string {
  const record: KafkaRecord = recordOf(value, { topic: "a.b.c" });
  try {
    void decoder.decode(record);
    return "events";
  } catch (error) {
    return isDecodeError(error) ? error.code : "another error";
  }
}

test("whether a message is refused depends only on the message, not on what the topic's readers have learned", () => {
  const seasoned = createDecoder();
  const row = (count: number): Buffer => Buffer.from(`{"id":1,"list":${JSON.stringify(Array.from({ length: count }, () => ({ x: {} })))}}`);
  for (let i = 0; i < 4; i++) {
    expect(outcome(seasoned, row(2))).toBe("events");
  }
  for (const count of [20_000, 40_000, 60_000, 61_000, 61_500, 62_000, 80_000]) {
    expect(outcome(seasoned, row(count)), String(count)).toBe(outcome(createDecoder(), row(count)));
  }
  expect(outcome(seasoned, row(20_000))).toBe("events");
  expect(outcome(seasoned, row(80_000))).toBe("limit-exceeded");
});
