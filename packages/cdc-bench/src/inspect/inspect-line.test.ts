import { type CdcEvent, createDecoder, DecodeError } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { eventLine, failureLine } from "./inspect-line.ts";

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
