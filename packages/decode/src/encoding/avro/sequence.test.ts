import fc from "fast-check";
import { Type as AvscType } from "avsc";
import { describe, expect, test } from "vitest";
import { resolveLimits } from "../../options.ts";
import type { Deferred } from "../reader.ts";
import { avroType, expectSameOutcome, long, outcomeOf, twins } from "./twins.contract.ts";

const row = {
  type: "record",
  name: "Row",
  fields: [
    { name: "id", type: "int" },
    { name: "name", type: ["null", "string"] },
    { name: "tags", type: { type: "array", items: "string" } },
  ],
} as const;
const rows = fc.array(
  fc.record({
    id: fc.integer(),
    name: fc.option(
      fc.string().map((string) => ({ string })),
      { nil: null },
    ),
    tags: fc.array(fc.string(), { maxLength: 3 }),
  }),
  { maxLength: 20 },
);

function readAll(schema: unknown, bytes: Buffer, count: number, limits = {}): ReturnType<typeof outcomeOf> {
  const [generated, closures] = twins(avroType(schema), { limits });
  const outcome = outcomeOf(() => generated.readSequence?.(bytes, 0, bytes.length, count));
  expectSameOutcome(
    outcome,
    outcomeOf(() => closures.readSequence?.(bytes, 0, bytes.length, count)),
  );
  return outcome;
}

describe("values one after another", () => {
  test("are read like single values, to the last byte", () => {
    const writer = AvscType.forSchema(row as never, { wrapUnions: true });
    fc.assert(
      fc.property(rows, (values) => {
        const bytes = Buffer.concat(values.map((value) => writer.toBuffer(value)));
        const expected = values.map(({ name, ...rest }) => ({ ...rest, name: name === null ? null : name.string }));
        expect(readAll(row, bytes, values.length)).toEqual({ value: expected });
      }),
    );
  });

  test("a count below the number of values leaves bytes, and a count above it lacks some", () => {
    expect(readAll("int", Buffer.from([2, 4, 6]), 3)).toEqual({ value: [1, 2, 3] });
    expect(readAll("int", Buffer.from([2, 4, 6]), 2)).toEqual({ code: "trailing-bytes" });
    expect(readAll("int", Buffer.from([2, 4, 6]), 4)).toEqual({ code: "truncated" });
    expect(readAll("int", Buffer.alloc(0), 0)).toEqual({ value: [] });
    expect(readAll("int", Buffer.from([2]), 2 ** 53)).toEqual({ code: "truncated" });
  });

  test("without bytes are limited in number", () => {
    expect(readAll("null", Buffer.alloc(0), 1_000, { maxZeroByteItems: 1_000 })).toEqual({ value: new Array(1_000).fill(null) });
    expect(readAll("null", Buffer.alloc(0), 1_001, { maxZeroByteItems: 1_000 })).toEqual({ code: "limit-exceeded" });
    expect(readAll("null", Buffer.alloc(0), 2 ** 53)).toEqual({ code: "limit-exceeded" });
  });

  test("of one byte each are limited by the cost budget", () => {
    expect(readAll("boolean", Buffer.alloc(200_000), 200_000)).toHaveProperty("value");
    expect(readAll("boolean", Buffer.alloc(1_000_000), 1_000_000)).toEqual({ code: "limit-exceeded" });
  });

  test("share the budget of one message", () => {
    const block = Buffer.concat([long(600), Buffer.from([0])]);
    const nulls = { type: "array", items: "null" };
    expect(readAll(nulls, block, 1, { maxZeroByteItems: 1_000 })).toHaveProperty("value");
    expect(readAll(nulls, Buffer.concat([block, block]), 2, { maxZeroByteItems: 1_000 })).toEqual({ code: "limit-exceeded" });
  });

  test("each value has its own deferred part", () => {
    const inner = { type: "record", name: "Source", fields: [{ name: "lsn", type: "long" }] };
    const schema = { type: "record", name: "E", fields: [{ name: "source", type: inner }] };
    const plan = { defer: { field: "source", peek: [], resolve: () => null }, skip: [], rows: [] };
    for (const reader of twins(avroType(schema), { plan, limits: resolveLimits() })) {
      const values = reader.readSequence?.(Buffer.from([2, 4, 6]), 0, 3, 3) as readonly { source: Deferred }[];
      expect(values.map(({ source }) => source.value)).toEqual([{ lsn: 1 }, { lsn: 2 }, { lsn: 3 }]);
    }
  });
});
