import { expect, test } from "vitest";
import type { RecordCursor } from "../../record.ts";
import { tableMarkOf } from "./table-mark.ts";

const frame = { key: 5, value: 5 };

/** A record in a fetched buffer, with other messages around it. */
function markOf(key: string | null, value: string | null): number {
  const around = '{"table":"other"}';
  const keyBytes = key === null ? null : Buffer.from(around + key + around, "latin1");
  const valueBytes = value === null ? null : Buffer.from(around + value + around, "latin1");
  const start = around.length;
  const end = (text: string | null): number => start + (text?.length ?? 0);
  const sides = { keyBytes, keyStart: start, keyEnd: end(key), valueBytes, valueStart: start, valueEnd: end(value) };
  return tableMarkOf(sides as Partial<RecordCursor> as RecordCursor, frame);
}

const change = (row: string, table: string): string => `{"before":null,"after":${row},"source":{"db":"a","table":"${table}","lsn":12}}`;
const long = "x".repeat(2_000);

test.each<[what: string, one: string, same: string, other: string]>([
  ["a change in JSON", change('{"id":1}', "orders"), change('{"id":21,"old":"orders","stable":2}', "orders"), change('{"id":1}', "items")],
  ["the last member", '{"id":1,"__table":"orders"}', '{"id":2,"__table":"orders"}', '{"id":1,"__table":"items"}'],
  ["a table before a long row", `{"table":"a","data":"${long}"}`, `{"table":"a","data":"${long}y"}`, `{"table":"b","data":"${long}"}`],
  ["a schema id", "\u0000\u0000\u0000\u0001\u0002ab", "\u0000\u0000\u0000\u0001\u0002cd", "\u0000\u0000\u0000\u0001\u0003ab"],
])("%s: records of one table have one mark, and those of another one another", (_, one, same, other) => {
  expect(markOf(null, same)).toBe(markOf(null, one));
  expect(markOf(null, other)).not.toBe(markOf(null, one));
  expect(markOf(null, one)).not.toBe(0);
});

test("a tombstone has the mark of its key, which is none of a change's", () => {
  const key = (table: string, id: number): string => `{"schema":{"type":"struct","name":"a.${table}.Key"},"payload":{"id":${id}}}`;
  expect(markOf(key("orders", 1), null)).toBe(markOf(key("orders", 2), null));
  expect(markOf(key("orders", 1), null)).not.toBe(markOf(key("items", 1), null));
  const framed = "\u0000\u0000\u0000\u0000\u0001a";
  expect(markOf(framed, null)).not.toBe(markOf(null, framed));
});

test.each(["{}", '{"id":1}', '{"name":"table"}', `{"data":"${long}"}`])(
  "JSON text that does not name its table has no mark: %j",
  (value) => {
    expect(markOf(null, value)).toBe(0);
    expect(markOf(null, null)).toBe(0);
  },
);
