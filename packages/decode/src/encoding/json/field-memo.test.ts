import { recordOf } from "@cdckit/testkit";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../../decoder.ts";
import type { CdcEvent, KafkaRecord } from "../../index.ts";
import { FieldMemo } from "./field-memo.ts";

const field = Buffer.from(',"table":"orders"');

function remembering(bytes: Buffer): FieldMemo {
  const memo = new FieldMemo();
  memo.keep(bytes, 0, bytes.length, "orders");
  return memo;
}

describe("FieldMemo", () => {
  it("finds the same field again at any place in other bytes", () => {
    const memo = remembering(field);
    expect(memo.stands(Buffer.concat([Buffer.from("{}"), field, Buffer.from(",")]), 2)).toBe(true);
    expect(memo.text).toBe("orders");
  });

  it("finds no longer text, no shorter text, and none that is cut by the end of the bytes", () => {
    const memo = remembering(field);
    expect(memo.stands(Buffer.from(',"table":"orders_2"'), 0)).toBe(false);
    expect(memo.stands(Buffer.from(',"table":"order","x'), 0)).toBe(false);
    expect(memo.stands(field.subarray(0, -1), 0)).toBe(false);
  });

  it("does not remember long texts, or fields that are no text", () => {
    const memo = remembering(field);
    const number = Buffer.from(',"lsn":744');
    memo.keep(number, 0, number.length, undefined);
    expect(memo.stands(number, 0)).toBe(false);
    const long = Buffer.from(`,"table":"${"x".repeat(128)}"`);
    memo.keep(long, 0, long.length, "x".repeat(128));
    expect(memo.stands(long, 0)).toBe(false);
  });

  it("only finds the field that stands there, even if it changes often", () => {
    const memo = new FieldMemo();
    for (let i = 0; i < 500; i++) {
      const text = `t${i % 3 === 0 ? i : 7}`;
      const bytes = Buffer.from(`,"table":"${text}"`);
      if (memo.stands(bytes, 0)) {
        expect(memo.text).toBe(text);
      } else {
        memo.keep(bytes, 0, bytes.length, text);
      }
    }
  });
});

describe("a topic of several tables", () => {
  it("gives each record its own table, although most of its source block is the same as the last one", () => {
    const decoder = createDecoder();
    const tables = ["orders", "orders", "orders", "orders_2", "order", "orders", "ord\\u0065rs", "ordérs", "o", "orders"];
    for (let round = 0; round < 40; round++) {
      for (const [i, table] of tables.entries()) {
        const db = round % 2 === 0 ? "sales" : `sales${i}`;
        const events = decoder.decode(changeOf(db, table, i)) as readonly CdcEvent[];
        expect(events[0]).toMatchObject({ kind: "change", after: { id: i }, table: { database: db, name: JSON.parse(`"${table}"`) } });
      }
    }
  });
});

function changeOf(db: string, table: string, id: number): KafkaRecord {
  const source = `{"version":"3.5.0","connector":"postgresql","name":"p","ts_ms":${id},"db":"${db}","schema":"public","table":"${table}","lsn":${id}}`;
  const value = Buffer.from(`{"before":null,"after":{"id":${id}},"source":${source},"op":"c","ts_ms":1}`);
  return recordOf(value, { topic: "all", offset: BigInt(id) });
}
