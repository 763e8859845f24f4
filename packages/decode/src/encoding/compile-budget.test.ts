import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder, type Decoder } from "../decoder.ts";
import type { CdcEvent } from "../event.ts";
import type { KafkaRecord } from "../record.ts";
import { CompileBudget } from "./compile-budget.ts";

const count = 1_024;
const ticdcVersion = Buffer.from("0000000000000001", "hex");

function lengthPrefixed(documents: readonly string[]): Buffer {
  return Buffer.concat(
    documents.flatMap((text) => {
      const length = Buffer.alloc(8);
      length.writeUInt32BE(Buffer.byteLength(text), 4);
      return [length, Buffer.from(text)];
    }),
  );
}

const each = (document: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => document(i));
const maxwell = (column: string): string => `{"database":"d","table":"t","type":"insert","ts":1,"data":{"${column}":1}}`;
const connect = (name: string): string =>
  `{"schema":{"type":"struct","fields":[{"type":"int32","field":"${name}"}]},"payload":{"${name}":1}}`;

/** Messages of documents of 512 shapes. Each comes twice, because a reader is generated for what comes again. */
const packed: readonly (readonly [string, KafkaRecord])[] = [
  [
    "TiCDC's open protocol",
    recordOf(lengthPrefixed(each((i) => `{"u":{"c${i >> 1}":{"t":3,"f":1,"v":1}}}`)), {
      key: Buffer.concat([ticdcVersion, lengthPrefixed(each(() => '{"ts":1,"scm":"s","tbl":"t","t":1}'))]),
    }),
  ],
  ["Maxwell's rows", recordOf(Buffer.from(each((i) => maxwell(`c${i >> 1}`)).join("")), { key: ticdcVersion })],
  ["documents with their Connect schemas", recordOf(lengthPrefixed(each((i) => connect(`c${i >> 1}`))))],
];

/** How many functions decoding generates, without the small ones that make objects. */
function generatedBy(decoder: Decoder, record: KafkaRecord): { readonly events: readonly CdcEvent[]; readonly generated: number } {
  const original = globalThis.Function;
  let generated = 0;
  globalThis.Function = new Proxy(original, {
    construct: (target, source: string[]) => {
      generated += source.at(-1)?.includes("return Shape;") === true ? 0 : 1;
      return Reflect.construct(target, source) as object;
    },
  });
  try {
    const events = decoder.decode(record);
    return { events: events instanceof Promise ? [] : events, generated };
  } finally {
    globalThis.Function = original;
  }
}

function columnsOf(event: CdcEvent): unknown {
  return event.kind === "row" ? event.row : event.kind === "change" ? event.after : event.kind;
}

describe("a message that packs documents of many shapes", () => {
  test.each(packed)("%s: few readers are generated for it, and its values are those of documents that come alone", (_, record) => {
    const { events, generated } = generatedBy(createDecoder(), record);
    expect(events.map(columnsOf)).toEqual(Array.from({ length: count }, (__, i) => ({ [`c${i >> 1}`]: 1 })));
    expect(generated).toBeLessThan(count / 4);
  });
});

describe("the budget of generated readers", () => {
  test("is used up, and grows with what is read", () => {
    const budget = new CompileBudget();
    const takenInARow = (): number => {
      let taken = 0;
      while (budget.take(40, 0)) {
        taken++;
      }
      return taken;
    };
    const atFirst = takenInARow();
    expect(atFirst).toBeGreaterThan(10);
    expect(atFirst).toBeLessThan(100);
    expect(budget.take(40, 1_000)).toBe(false);
    expect(budget.take(40, 20_000)).toBe(true);
    budget.take(40, 2 ** 30);
    expect(takenInARow()).toBeLessThanOrEqual(atFirst);
  });
});
