import { type CdcEvent, createDecoder, DecodeError } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { eventLine, failureLine } from "./inspect-line.ts";
import { createMask } from "./mask.ts";

const columns = "topic partition offset framing encoding envelope schemaId kind op table key before after error".split(" ");

/** The lines of a recorded topic, parsed again. */
async function linesOf(topic: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { file, schemasFile } = bundledRecording(`postgres-debezium-3.5/${topic}`);
  const decoder = createDecoder({ schemas: fromBundle(schemasFile) });
  const lines: Readonly<Record<string, unknown>>[] = [];
  for (const record of await loadRecording(file)) {
    for (const event of await decoder.decode(record)) {
      lines.push(JSON.parse(eventLine(event)) as Readonly<Record<string, unknown>>);
    }
  }
  return lines;
}

describe("the line of an event", () => {
  test("has the columns of the contract in their order; a change has no others", async () => {
    const [line] = await linesOf("tav.inv.composite_pk");
    expect(Object.keys(line ?? {})).toEqual(columns);
    expect(line).toMatchObject({ framing: "confluent", encoding: "avro", envelope: "debezium", kind: "change", op: "read", error: null });
    expect(line?.["table"]).toEqual({ database: "types", schema: "inv", name: "composite_pk" });
  });

  test.each([
    ["tjs.message", "message", { prefix: "myprefix", content: { $bytes: expect.any(String) }, op: null }],
    ["tjn.transaction", "transaction", { status: "begin", id: "798:74714368", eventCount: null, dataCollections: null, table: null }],
    ["__debezium-heartbeat.tav", "heartbeat", { tsMs: expect.any(Number), before: null, after: null }],
    ["outbox.event.order", "row", { row: expect.anything(), op: null }],
  ])("of %s adds what a %s has of its own, after the columns that all have", async (topic, kind, fields) => {
    const [line] = await linesOf(topic);
    expect(line).toMatchObject({ kind, error: null, ...fields });
    expect(Object.keys(line ?? {}).slice(0, columns.length)).toEqual(columns);
  });

  test("of a truncate says where it stood in the source", async () => {
    const lines = await linesOf("tjn.inv.nopk");
    expect(lines.at(-1)).toMatchObject({ kind: "truncate", table: { name: "nopk" }, source: { connector: "postgresql" } });
  });

  test("cannot be made of an event whose source is broken, although the source is not in it", () => {
    const broken = {
      kind: "change",
      record: { topic: "t", partition: 0, offset: 0n },
      get source(): never {
        throw new DecodeError("truncated", "the source ends early");
      },
    } as unknown as CdcEvent;
    expect(() => eventLine(broken)).toThrow("truncated");
  });
});

test("the line of a record that cannot be decoded has the same columns, empty but for its place and its error", () => {
  const record = recordOf(null, { partition: 1, offset: 9007199254740993n });
  const line = failureLine(record, { code: "malformed", message: "[malformed] because" });
  expect(Object.keys(JSON.parse(line) as object)).toEqual(columns);
  expect(line).toContain('"offset":9007199254740993,"framing":null');
  expect(line).toContain('"error":{"code":"malformed","message":"[malformed] because"}');
});

describe("what a mask hides besides rows", () => {
  const secret = "secret@b.example";
  const masks = [
    ["for a column", createMask({ columns: ["email"], isEverything: false })],
    ["for everything", createMask({ columns: [], isEverything: true })],
  ] as const;

  async function lineOf(value: unknown, mask = masks[0][1], more: Parameters<typeof recordOf>[1] = {}): Promise<string> {
    const bytes = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));
    const [event] = await createDecoder().decode(recordOf(bytes, more));
    return eventLine(event!, {}, mask);
  }

  test.each(masks)(
    "%s: the statement of a schema change, wherever it stands, and the defaults and members of enums of its columns",
    async (_, mask) => {
      const ddl = `ALTER TABLE people ALTER email SET DEFAULT '${secret}'`;
      const column = {
        name: "email",
        typeName: "ENUM",
        optional: true,
        comment: null,
        defaultValueExpression: secret,
        enumValues: [secret],
      };
      const change = {
        source: {
          version: "3.5.0.Final",
          connector: "mysql",
          name: "my",
          ts_ms: 1,
          db: "shop",
          table: "people",
          file: "b.1",
          pos: 4,
          query: ddl,
        },
        ts_ms: 1,
        databaseName: "shop",
        schemaName: null,
        ddl,
        tableChanges: [
          { type: "ALTER", id: '"shop"."people"', table: { primaryKeyColumnNames: ["id"], columns: [column], comment: secret } },
        ],
      };
      const line = await lineOf(change, mask);
      expect(line).not.toContain(secret);
      const names = { name: "email", typeName: "ENUM", optional: true, comment: null, defaultValueExpression: "***", enumValues: "***" };
      expect(JSON.parse(line)).toMatchObject({
        kind: "schema-change",
        ddl: "***",
        tables: [{ type: "ALTER", id: '"shop"."people"', table: { primaryKeyColumnNames: ["id"], columns: [names], comment: "***" } }],
        source: { position: { file: "b.1", pos: 4, query: "***" } },
      });
    },
  );

  test.each(masks)("%s: the statement of a truncate", async (_, mask) => {
    const source = { version: "3.5.0.Final", connector: "oracle", name: "o", ts_ms: 1, db: "d", schema: "s", table: "t", redo_sql: secret };
    const line = await lineOf({ op: "t", ts_ms: 1, before: null, after: null, source }, mask);
    expect(line).toContain('"kind":"truncate"');
    expect(line).not.toContain(secret);
  });

  test.each(masks)("%s: what a logical message holds, which may be a row in any form", async (_, mask) => {
    const source = { version: "3.5.0.Final", connector: "postgresql", name: "p", ts_ms: 1, db: "d", schema: "", table: "", lsn: 1 };
    const content = Buffer.from(JSON.stringify({ email: secret })).toString("base64");
    const line = await lineOf({ op: "m", ts_ms: 1, source, message: { prefix: "mail", content } }, mask);
    expect(JSON.parse(line)).toMatchObject({ kind: "message", prefix: "mail", content: "***" });
  });

  test.each(masks)("%s: keys and values that nothing has decoded", async (_, mask) => {
    const bytes = Buffer.concat([Buffer.from([255, 1]), Buffer.from(secret)]);
    const line = await lineOf({ id: 1 }, mask, { key: bytes });
    expect(JSON.parse(line)).toMatchObject({ key: "***" });
  });
});
