import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "../decoder.ts";
import { isDecodeError } from "../errors.ts";

const rows = (count: number, columns: number): object[] =>
  Array.from({ length: count }, (_, i) => Object.fromEntries(Array.from({ length: columns }, (_, column) => [`c${column}`, String(i)])));

const canal = (count: number, columns = 1): object => ({
  isDdl: false,
  type: "INSERT",
  database: "d",
  table: "t",
  data: rows(count, columns),
  old: null,
  ts: 1,
  es: 1,
});

const wal2json = (count: number): object => ({
  change: Array.from({ length: count }, () => ({
    kind: "insert",
    schema: "s",
    table: "t",
    columnnames: [],
    columntypes: [],
    columnvalues: [],
  })),
});

function countOf(message: object, options: DecoderOptions = {}): number | string {
  const value = Buffer.from(JSON.stringify(message));
  try {
    const events = createDecoder(options).decode(recordOf(value));
    return (events as readonly unknown[]).length;
  } catch (error) {
    return isDecodeError(error) ? error.code : String(error);
  }
}

test.each([
  ["Canal", canal(30_000)],
  ["wal2json", wal2json(40_000)],
])("a record of %s with more events than its length allows is refused before they are made", (_, message) => {
  expect(countOf(message, { limits: { maxCostPerByte: 10 } })).toBe("limit-exceeded");
  expect(countOf(message, { limits: { maxCostPerByte: 400 } })).toBeGreaterThan(20_000);
});

test("a record of many rows is read if its rows have enough bytes", () => {
  expect(countOf(canal(20_000, 4))).toBe(20_000);
});
