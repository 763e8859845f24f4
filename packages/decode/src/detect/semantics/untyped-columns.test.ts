import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, loadRecording } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";
import type { CdcEvent } from "../../event.ts";
import { UntypedColumns } from "./untyped-columns.ts";

async function suspicionsOf(name: string): Promise<Readonly<Record<string, string>>> {
  const found = bundledRecordings().find((recording) => recording.name === name);
  if (found === undefined) {
    throw new Error(`no recording ${name}`);
  }
  const decoder = createDecoder({ schemas: fromBundle(found.schemasFile) });
  const untyped = new UntypedColumns();
  let topic = "";
  for (const record of (await loadRecording(found.file)).slice(0, 200)) {
    ({ topic } = record);
    for (const event of await decoder.decode(record)) {
      untyped.add(event);
    }
  }
  return Object.fromEntries(untyped.of(topic).map((column) => [column.name, column.looksLike]));
}

function change(after: Readonly<Record<string, unknown>>, more: object = {}): CdcEvent {
  return {
    kind: "change",
    encoding: "json",
    envelope: "debezium",
    after,
    before: null,
    record: { topic: "t" },
    ...more,
  } as unknown as CdcEvent;
}

function suspicions(...rows: readonly Readonly<Record<string, unknown>>[]): readonly (readonly [string, string])[] {
  const untyped = new UntypedColumns();
  for (const row of rows) {
    untyped.add(change(row));
  }
  return untyped.of("t").map(({ name, looksLike }) => [name, looksLike]);
}

describe("columns that look untyped", () => {
  test("are found in real plain JSON, and none are found in the same rows with types", async () => {
    expect(await suspicionsOf("salesorderdetail/json")).toMatchObject({
      unitprice: "decimal or bytes in base64",
      linetotal: "decimal or bytes in base64",
      modifieddate: "microseconds",
    });
    expect(await suspicionsOf("salesorderdetail/json-with-schema")).toEqual({});
    expect(await suspicionsOf("salesorderdetail/confluent-avro")).toEqual({});
  });

  test("are times in every unit, and days only if the name says so", () => {
    const now = 1_767_225_600_000;
    const row = { ms: now, us: now * 1e3, ns: BigInt(now) * 1_000_000n, due_date: 20_454, count: 20_454, id: 7 };
    expect(suspicions(row, row)).toEqual([
      ["ms", "milliseconds"],
      ["us", "microseconds"],
      ["ns", "nanoseconds"],
      ["due_date", "days"],
    ]);
  });

  test("are not words, codes, ids, flags or long text", () => {
    const row = {
      word: "blue",
      code: "ABCD",
      uuid: "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
      id: 12_345_678,
      flag: true,
      note: "a".repeat(80),
    };
    expect(suspicions(row, { ...row, word: "dark", code: "EF12" })).toEqual([]);
  });

  test("must look so in every row: one other value clears the column", () => {
    expect(suspicions({ a: "M+I=" }, { a: "AZoo" }, { a: null })).toEqual([["a", "decimal or bytes in base64"]]);
    expect(suspicions({ a: "M+I=" }, { a: "no" }, { a: "M+I=" })).toEqual([]);
    expect(suspicions({ a: "M+I=" })).toEqual([]);
  });

  test("are looked for only in Debezium's rows without types", () => {
    const untyped = new UntypedColumns();
    for (const more of [{ encoding: "avro" }, { envelope: "none" }, { envelope: "maxwell" }]) {
      untyped.add(change({ a: "M+I=" }, more));
    }
    expect(untyped.rowsOf("t")).toBe(0);
  });

  test("are looked for within bounds", () => {
    const untyped = new UntypedColumns({ maxTopics: 1, maxRows: 2, maxColumns: 1 });
    for (let i = 0; i < 5; i++) {
      untyped.add(change({ a: "M+I=", b: "M+I=" }));
      untyped.add(change({ a: "M+I=" }, { record: { topic: "other" } }));
    }
    expect([untyped.rowsOf("t"), untyped.namesOf("t"), untyped.rowsOf("other"), untyped.wants("other")]).toEqual([2, ["a"], 0, false]);
  });
});

describe("hints of columns", () => {
  const decoderWith = (
    columns: Readonly<Record<string, string | { name: string; parameters?: Readonly<Record<string, string>> }>>,
  ): unknown => createDecoder({ topics: { t: { columns } } });

  test.each([
    ["a name that is none", { at: "MicroTimestamp" }, 'did you mean "io.debezium.time.MicroTimestamp"?'],
    ["a name that is near none", { at: "timestamptz" }, "such as io.debezium.time.MicroTimestamp"],
    ["a decimal without a scale", { price: "org.apache.kafka.connect.data.Decimal" }, "expected the scale of a decimal, found none"],
    [
      "a decimal whose scale was left open",
      { price: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "?" } } },
      'expected the scale of a decimal, found "?"',
    ],
  ])("with %s are refused with what to write", (_, columns, said) => {
    expect(() => decoderWith(columns)).toThrow(said);
  });

  test("may name types whose values need no conversion", () => {
    expect(() => decoderWith({ a: "io.debezium.data.Uuid", b: "io.debezium.time.ZonedTime", c: "bytes" })).not.toThrow();
  });
});
