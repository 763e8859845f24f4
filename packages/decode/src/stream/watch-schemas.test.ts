import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import type { SchemaId } from "../schema-source.ts";
import { type SchemaChange, watchSchemas, type WatchSchemasOptions } from "./watch-schemas.ts";

const int32 = { type: "int32", optional: false };
const text = { type: "string", optional: true };

/** A JSON message with its schema: the envelope of a row with these columns. */
function message(columns: Readonly<Record<string, unknown>>, name = "s.public.orders.Value", table = "orders"): Buffer {
  const row = {
    type: "struct",
    optional: true,
    name,
    fields: Object.entries(columns).map(([field, type]) => ({ ...(type as object), field })),
  };
  const source = {
    type: "struct",
    optional: false,
    field: "source",
    fields: [
      { ...text, field: "connector" },
      { ...text, field: "table" },
    ],
  };
  const schema = {
    type: "struct",
    optional: false,
    name: name.replace("Value", "Envelope"),
    fields: [{ ...row, field: "before" }, { ...row, field: "after" }, source, { type: "string", optional: false, field: "op" }],
  };
  const after = Object.fromEntries(Object.keys(columns).map((column) => [column, null]));
  const payload = { before: null, after: { ...after, id: 1 }, source: { connector: "postgresql", table }, op: "c" };
  return Buffer.from(JSON.stringify({ schema, payload }));
}

async function changesOf(
  values: readonly Buffer[],
  options?: WatchSchemasOptions,
  topics: readonly string[] = ["t"],
): Promise<SchemaChange[]> {
  const changes: SchemaChange[] = [];
  const decoder = createDecoder({ onSchema: watchSchemas((change) => changes.push(change), options) });
  for (const value of values) {
    for (const topic of topics) {
      await decoder.decode(recordOf(value, { topic }));
    }
  }
  return changes;
}

describe("a watcher of schemas", () => {
  test("without a listener is refused", () => {
    expect(() => watchSchemas(undefined as never)).toThrow("watchSchemas expects a function that gets the changes, got undefined");
  });

  const one = message({ id: int32 });
  const two = message({ id: int32, note: text });

  test("reports added and removed columns, and does not report a schema that was seen before", async () => {
    const changes = await changesOf([one, one, two, one, two]);
    expect(changes).toMatchObject([
      { topic: "t", side: "value", changes: [{ kind: "added", column: "note", type: { kind: "string", isNullable: true } }] },
    ]);
  });

  test("reports a schema that several tables share once, whichever table comes first with it", async () => {
    const columns = [{ id: int32 }, { id: int32, note: text }];
    const ofTables = ["orders_1", "orders_2"].flatMap((table) => columns.map((one) => message(one, undefined, table)));
    expect((await changesOf(ofTables)).map(({ changes }) => changes)).toMatchObject([[{ kind: "added", column: "note" }]]);
  });

  test("keeps topics apart, and also the tables of one topic", async () => {
    expect(await changesOf([one], {}, ["t", "u"])).toEqual([]);
    expect(await changesOf([one, message({ id: int32, note: text }, "s.public.customers.Value")])).toEqual([]);
  });

  test("does not report columns that only changed places", async () => {
    expect(await changesOf([two, message({ note: text, id: int32 })])).toEqual([]);
  });

  test("forgets the oldest tables if there are too many", async () => {
    const changes: SchemaChange[] = [];
    const listener = watchSchemas((change) => changes.push(change), { maxSchemas: 1 });
    const seen = (topic: string, schemaId: SchemaId, fields: readonly string[]) =>
      listener({
        topic,
        side: "value",
        table: null,
        schemaId,
        encoding: "avro",
        envelope: "none",
        type: { kind: "null" },
        row: { kind: "record", name: "r", fields: fields.map((name) => ({ name, type: { kind: "int" } })) },
      });
    seen("t", 1, ["a"]);
    seen("u", 2, ["a"]);
    seen("t", 3, ["a", "b"]);
    expect(changes).toEqual([]);
    seen("t", 4, ["a"]);
    expect(changes).toMatchObject([{ previousId: 3, nextId: 4, changes: [{ kind: "removed", column: "b" }] }]);
  });
});
