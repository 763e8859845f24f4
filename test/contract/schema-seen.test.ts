import { createDecoder, describeSchema, type SchemaSeen } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording, recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";

const names = (seen: SchemaSeen | undefined): string[] => (seen?.row?.kind === "record" ? seen.row.fields.map(({ name }) => name) : []);

test.each(["tav", "tjs"])("a listener is told of each schema of %s once, with the type of its rows", async (prefix) => {
  const { file, schemasFile } = bundledRecording(`postgres-debezium-3.5/${prefix}.inv.evolve`);
  const seen: SchemaSeen[] = [];
  const decoder = createDecoder({ schemas: fromBundle(schemasFile), onSchema: (one) => seen.push(one) });
  const rows: string[][] = [];
  for (const record of await loadRecording(file)) {
    const [event] = await decoder.decode(record);
    if (event?.kind === "change") {
      rows.push(Object.keys(event.after ?? event.before ?? {}));
    }
  }
  const values = seen.filter(({ side }) => side === "value");
  // The table's columns changed between the changes: each row has the columns of the schema that it was written with.
  expect(values.map(names)).toEqual(rows.filter((row, i) => JSON.stringify(row) !== JSON.stringify(rows[i - 1])));
  expect(seen.filter(({ side }) => side === "key").map(names)).toEqual([["id"]]);
});

test("a listener is told of a schema once for each table, and of the table", async () => {
  const text = { type: "string", optional: false };
  const fieldsOf = (...names: readonly string[]): object[] => names.map((field) => ({ ...text, field }));
  const schema = {
    type: "struct",
    optional: false,
    fields: [
      { type: "struct", optional: true, field: "after", fields: fieldsOf("id") },
      { type: "struct", optional: false, field: "source", fields: fieldsOf("db", "table") },
      ...fieldsOf("op"),
    ],
  };
  const seen: SchemaSeen[] = [];
  const decoder = createDecoder({ onSchema: (one) => seen.push(one) });
  const key = JSON.stringify({ schema: { type: "struct", optional: false, fields: fieldsOf("id") }, payload: { id: "1" } });
  const many = Array.from({ length: 100 }, () => "orders"); // so that a fast path takes them, which all tables of a schema share
  for (const table of [...many, "customers", ...many]) {
    const payload = { after: { id: "1" }, source: { db: "shop", table }, op: "c" };
    await decoder.decode(recordOf(JSON.stringify({ schema, payload }), { topic: "all", key }));
    await decoder.decode(recordOf(null, { topic: "all", key }));
  }
  expect(seen.map(({ side, table }) => [side, table])).toEqual([
    ["key", { database: "shop", name: "orders" }],
    ["value", { database: "shop", name: "orders" }],
    ["key", { database: "shop", name: "customers" }],
    ["value", { database: "shop", name: "customers" }],
  ]);
});

test("a registered schema is described without any message, as decoding describes it", async () => {
  const { file, schemasFile } = bundledRecording("postgres-debezium-3.5/tav.inv.alltypes");
  const source = fromBundle(schemasFile);
  const seen: SchemaSeen[] = [];
  const decoder = createDecoder({ schemas: source, onSchema: (one) => seen.push(one) });
  for (const record of await loadRecording(file)) {
    await decoder.decode(record);
  }
  expect(seen.length).toBeGreaterThan(1);
  for (const one of seen) {
    const registered = source.peek(one.schemaId as number);
    expect(registered === undefined ? null : await describeSchema(registered, one)).toEqual({ ...one, table: null });
  }
});

test.each([false, true])(
  "the marks of missing columns that GoldenGate writes beside columns are none of a row (row-modelled: %s)",
  async (isRow) => {
    const field = (type: string) => (name: string) => ({ name, type });
    const columns = [field("int")("ID"), field("boolean")("ID_isMissing"), field("boolean")("PART_isMissing")];
    const image = { name: "after", type: ["null", { type: "record", name: "Row", fields: columns }] };
    const fields = [...["table", "op_type", "op_ts", "pos"].map(field("string")), ...(isRow ? columns : [image])];
    const registered = {
      id: 1,
      schemaType: "AVRO" as const,
      schema: JSON.stringify({ type: "record", name: "TCUST", fields }),
      references: [],
    };
    const seen = await describeSchema(registered, { topic: "orders", side: "value" });
    expect([seen.envelope, names(seen)]).toEqual(["goldengate", ["ID", "PART_isMissing"]]);
  },
);

test("columns that a connector wraps have the types of their values, in rows and keys", async () => {
  const of = (name: string, type: unknown) => ({ name, type });
  const cell = (name: string, type: unknown) =>
    of(name, ["null", { type: "record", name, fields: [of("value", type), of("set", "boolean")] }]);
  const row = { type: "record", name: "Value", fields: [cell("id", "int"), cell("name", ["null", "string"])] };
  const source = { type: "record", name: "Source", fields: ["version", "connector", "name", "db"].map((name) => of(name, "string")) };
  const fields = [of("before", ["null", row]), of("after", ["null", "Value"]), of("source", source), of("op", "string")];
  const seen = async (side: "key" | "value", schema: object): Promise<unknown> => {
    const registered = { id: 1, schemaType: "AVRO" as const, schema: JSON.stringify(schema), references: [] };
    const { row: found } = await describeSchema(registered, { topic: "p.public.test", side });
    return found?.kind === "record" ? found.fields.map(({ name, type }) => [name, type.kind]) : found;
  };
  expect(await seen("value", { type: "record", name: "Envelope", namespace: "p.public.test", fields })).toEqual([
    ["id", "int"],
    ["name", "union"],
  ]);
  expect(await seen("key", { type: "record", name: "Key", fields: [cell("id", "int")] })).toEqual([["id", "int"]]);
});
