import { recordOf } from "@cdckit/testkit";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../decoder.ts";
import type { CdcEvent, KafkaRecord } from "../index.ts";
import { BlockMemo } from "./block-memo.ts";

type Fields = readonly string[];

/** Reads the block as a generated reader does. Returns the numbers of the fields that it had to read. */
function readBlock(memo: BlockMemo, fields: Fields, tail: string = "}", padding: number = 0): readonly number[] {
  const before = Buffer.from(" ".repeat(padding));
  const parts = fields.map((field) => Buffer.from(field));
  const bytes = Buffer.concat([before, ...parts, Buffer.from(tail)]);
  const starts = [padding];
  for (const part of parts) {
    starts.push((starts.at(-1) as number) + part.length);
  }
  const read: number[] = [];
  let field = memo.begin(bytes, padding, bytes.length);
  for (let i = 0; i < fields.length; i++) {
    if (field === i) {
      expect(memo.pos).toBe(starts[i]);
      read.push(i);
      memo.keepText(0, String(i));
      memo.keep(bytes, starts[i] as number, starts[i + 1] as number, i);
      field = memo.next(bytes, starts[i + 1] as number, bytes.length, i + 1);
    }
  }
  expect(memo.pos).toBe(starts.at(-1));
  return read;
}

const block = (lsn: number | string, table: string = "orders"): Fields => [
  '{"db":"sales"',
  `,"table":"${table}"`,
  `,"lsn":${lsn}`,
  ',"xmin":null',
  ',"schema":"public"',
];
const all = [0, 1, 2, 3, 4];

function remembering(fields: Fields): BlockMemo {
  const memo = new BlockMemo(
    fields.map(() => true),
    "text",
  );
  readBlock(memo, fields);
  return memo;
}

describe("BlockMemo", () => {
  it("reads every field of the first block, and none of an equal one at another place", () => {
    const memo = new BlockMemo(
      all.map(() => true),
      "text",
    );
    expect(readBlock(memo, block(7))).toEqual(all);
    expect(readBlock(memo, block(7), "}", 9)).toEqual([]);
    expect(readBlock(memo, block(7), ',"more":1}')).toEqual([]);
  });

  it.each([
    ["another number", block(8), [2]],
    ["a number with more digits", block(71), [2]],
    ["a number with a fraction", block("7.5"), [2]],
    ["a longer text", block(7, "orders_2"), [1]],
    ["a shorter text", block(7, "order"), [1]],
    ["two other fields", block(9, "order"), [1, 2]],
  ])("reads %s alone", (_, fields, changed) => {
    const memo = remembering(block(7));
    expect(readBlock(memo, fields)).toEqual(changed);
    expect(readBlock(memo, fields)).toEqual(changed);
  });

  it("does not take the start of a longer last field for the field", () => {
    const fields = (lsn: string): Fields => ['{"db":"sales"', `,"lsn":${lsn}`];
    for (const longer of ["71", "7.5", "7e3", "7 "]) {
      const memo = remembering(fields("7"));
      expect(readBlock(memo, fields(longer))).toEqual([1]);
    }
  });

  it("does not look beyond the end of the message", () => {
    const memo = remembering(block(7));
    const bytes = Buffer.from(`${block(7).join("")}}`);
    for (let end = 0; end < bytes.length; end++) {
      const field = memo.begin(bytes, 0, end);
      expect(field).toBeLessThan(all.length);
      expect(memo.pos).toBeLessThanOrEqual(end);
    }
  });

  it("remembers a field again that changed once", () => {
    const memo = remembering(block(1));
    readBlock(memo, block(2));
    const reads = Array.from({ length: 200 }, () => readBlock(memo, block(2)).length);
    expect(reads.slice(0, 9)).toEqual(reads.slice(0, 9).map(() => 1));
    expect(reads.at(-1)).toBe(0);
  });

  it("reads fields that must not be remembered, and those for which there is no room", () => {
    const memo = new BlockMemo([true, false, true], "text");
    const fields = ['{"a":1', ',"b":2', `,"c":"${"x".repeat(1_100)}"`];
    readBlock(memo, fields);
    expect(readBlock(memo, fields)).toEqual([1, 2]);
  });

  it("takes a field for what it was whatever follows it, if bytes tell where fields end", () => {
    const memo = new BlockMemo([true, true], "binary");
    const fields = ["\bab", "\bcdefghijk"];
    readBlock(memo, fields, "");
    expect(readBlock(memo, fields, "")).toEqual([]);
    expect(readBlock(memo, fields, "\u0002")).toEqual([]);
  });

  it("knows zeros from zeros with a sign, which are equal as doubles", () => {
    const memo = new BlockMemo([true], "binary");
    const zeros = new Uint8Array(16);
    expect(memo.begin(zeros, 0, 16)).toBe(0);
    memo.keep(zeros, 0, 16, 0);
    expect(memo.begin(zeros, 0, 16)).toBe(1);
    expect(
      memo.begin(
        Uint8Array.from(zeros, (_, i) => (i === 15 ? 0x80 : 0)),
        0,
        16,
      ),
    ).toBe(0);
  });

  it("keeps what was made of the texts of the remembered block alone", () => {
    const memo = new BlockMemo(
      all.map(() => true),
      "text",
    );
    readBlock(memo, block(7));
    memo.keepHead("of 7");
    readBlock(memo, block(8));
    memo.keepHead("of 8");
    expect(memo.head).toBe("of 7");
    expect(memo.texts).toEqual(["4"]);
  });

  it("moves over what was remembered byte for byte, whatever changes", () => {
    let seed = 0x5eed;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (seed >>> 8) % below;
    };
    const memo = new BlockMemo(
      all.map(() => true),
      "text",
    );
    const read = new Map<number, Set<string>>(all.map((i) => [i, new Set()]));
    for (let i = 0; i < 3_000; i++) {
      const fields = block(random(3) === 0 ? random(300) : 7, random(20) === 0 ? "o".repeat(random(200)) : "orders");
      const fresh = readBlock(memo, fields);
      for (const [field, text] of fields.entries()) {
        if (fresh.includes(field)) {
          read.get(field)?.add(text);
        } else {
          expect(read.get(field)).toContain(text);
        }
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
        const lsn = round % 3 === 0 ? 5 : round * 7 + i;
        const events = decoder.decode(changeOf(db, table, i, lsn)) as readonly CdcEvent[];
        expect(events[0]).toMatchObject({ kind: "change", after: { id: i }, table: { database: db, name: JSON.parse(`"${table}"`) } });
        expect(events[0]).toMatchObject({ source: { connector: "postgresql", tsMs: i, position: { lsn } } });
      }
    }
  });

  it("refuses a damaged source block, wherever it is damaged, after many that were sound", () => {
    const sound = (changeOf("sales", "orders", 1, 5).value as Buffer).toString();
    const from = sound.indexOf('"source"');
    const to = sound.indexOf(',"op"');
    for (let at = from; at < to; at++) {
      for (const byte of ["\u0001", '"', ",", "0"]) {
        const damaged = Buffer.from(sound.slice(0, at) + byte + sound.slice(at + 1));
        const warm = createDecoder();
        for (let i = 0; i < 4; i++) {
          void warm.decode(changeOf("sales", "orders", 1, 5));
        }
        expect(outcomeOf(warm, damaged)).toEqual(outcomeOf(createDecoder(), damaged));
      }
    }
  });
});

function outcomeOf(decoder: ReturnType<typeof createDecoder>, value: Buffer): unknown {
  try {
    return (decoder.decode(recordOf(value, { topic: "all" })) as readonly CdcEvent[]).map((event) => event.toObject());
  } catch (error) {
    return (error as Error).message;
  }
}

function changeOf(db: string, table: string, id: number, lsn: number): KafkaRecord {
  const source = `{"version":"3.5.0","connector":"postgresql","name":"p","ts_ms":${id},"sequence":"[\\"${lsn}\\",\\"\\u00e9\\"]","db":"${db}","schema":"public","table":"${table}","lsn":${lsn}}`;
  const value = Buffer.from(`{"before":null,"after":{"id":${id}},"source":${source},"op":"c","ts_ms":1}`);
  return recordOf(value, { topic: "all", offset: BigInt(id) });
}
