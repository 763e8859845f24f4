import { type CdcEvent, createDecoder } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, bundledRecordings, loadRecording, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createMask, noMask } from "./mask.ts";
import { shownHeaders } from "./header-text.ts";
import { eventLine } from "./inspect-line.ts";
import { plainText, recordText } from "./inspect-text.ts";
import { plainStyle, styleOf } from "../report/text-style.ts";
import { columnsOf, cutLine, wrapLines } from "../report/text-width.ts";

describe("the width", () => {
  test.each([
    [{}, { columns: undefined }, 80],
    [{}, { columns: 132 }, 132],
    [{}, { columns: 0 }, 80],
    [{ COLUMNS: "100" }, { columns: 132 }, 100],
    [{ COLUMNS: "wide" }, { columns: undefined }, 80],
    [{ COLUMNS: "1" }, { columns: undefined }, 80],
    [{}, undefined, Number.POSITIVE_INFINITY],
    [{ COLUMNS: "100" }, undefined, 100],
  ])("of %j and the terminal %j is %d", (env, screen, columns) => {
    expect(columnsOf(env, screen)).toBe(columns);
  });

  test("cuts a line between characters, and says that it was cut", () => {
    expect(cutLine("x".repeat(20), 20)).toBe("x".repeat(20));
    expect(cutLine("x".repeat(21), 20)).toBe(`${"x".repeat(17)}...`);
    expect(cutLine("🙂".repeat(21), 20)).toBe(`${"🙂".repeat(17)}...`);
    expect(cutLine("a\u001b[31mb\nc", 20)).toBe("a?[31mb c");
  });

  test("wraps a sentence without losing any of it", () => {
    expect(wrapLines("one two three", 11, "    ")).toEqual(["    one two", "    three"]);
    expect(wrapLines("abcdefghij", 8, "    ")).toEqual(["    abcd", "    efgh", "    ij"]);
  });
});

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: "1" }, true, false],
  [{ NO_COLOR: "" }, true, true],
  [{ TERM: "dumb" }, true, false],
  [{ FORCE_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "" }, false, true],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "0" }, true, false],
])("with %j, on a terminal: %s, there are colors: %s", (env, isTerminal, hasColors) => {
  expect(styleOf(env, isTerminal)("problem", "x")).toBe(hasColors ? "\u001b[31mx\u001b[39m" : "x");
});

test("a record that cannot be decoded has its time and its whole message, and color only if it is asked for", () => {
  const record = recordOf(null, { topic: "orders", offset: 3n, timestamp: 0n });
  const message = `it says ${"too much ".repeat(12)}at the end`;
  const outcome = { record, events: [], failure: { code: "malformed", message }, candidates: [] };
  const lines = recordText(outcome, { ...plainText, style: plainStyle }).split("\n");
  expect(lines[0]).toBe("orders[0]@3  1970-01-01T00:00:00.000Z  cannot be decoded");
  expect(lines.slice(1, -1).every((line) => line.length <= 80)).toBe(true);
  expect(lines.slice(1, -1).join(" ").replaceAll(/ +/g, " ").trim()).toBe(message);
  expect(recordText(outcome, { ...plainText, style: styleOf({}, true) })).toContain("\u001b[31mcannot be decoded\u001b[39m");
});

test("a header that is no text is shown as bytes, and hidden by any mask: it may hold a key in Avro", () => {
  const bytes = Uint8Array.of(0, 0xff);
  expect(shownHeaders([["k", bytes]], noMask)).toEqual([["k", bytes]]);
  for (const rule of [
    { columns: ["email"], isEverything: false },
    { columns: [], isEverything: true },
  ]) {
    expect(shownHeaders([["k", bytes]], createMask(rule))).toEqual([["k", "***"]]);
  }
});

describe("a mask", () => {
  const ddl = "ALTER TABLE customers ADD email text DEFAULT 'a@b.example'";
  const schemaChange = { source: { connector: "mysql", db: "shop" }, databaseName: "shop", schemaName: null, ddl, tableChanges: [] };

  /** Recorded events of every kind that the recordings have, and a schema change. */
  async function events(): Promise<readonly CdcEvent[]> {
    const decoded: CdcEvent[] = [...(await createDecoder().decode(recordOf(Buffer.from(JSON.stringify(schemaChange)), { topic: "shop" })))];
    const decoder = createDecoder({ schemas: fromBundle(bundledRecording("postgres-debezium-3.5/tav.message").schemasFile) });
    for (const { file } of bundledRecordings().filter(({ name }) => name.startsWith("postgres-debezium-3.5/"))) {
      for (const record of await loadRecording(file)) {
        decoded.push(...(await decoder.decode(record)));
      }
    }
    return decoded;
  }

  test.each([
    { columns: ["v", "id"], isEverything: false },
    { columns: [], isEverything: true },
  ])("hides the same in text as in JSON: %j", async (rule) => {
    const mask = createMask(rule);
    const hidden = (text: string): number => text.split("***").length - 1;
    const seen = new Set<string>();
    for (const event of await events()) {
      const text = recordText(
        { record: event.record, events: [event], failure: null, candidates: [] },
        { ...plainText, columns: Number.POSITIVE_INFINITY, mask },
      );
      expect(hidden(text), text).toBe(hidden(eventLine(event, {}, mask)));
      expect(text).not.toContain("a@b.example");
      seen.add(event.kind);
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(["change", "row", "message", "transaction", "schema-change", "heartbeat", "tombstone"]),
    );
  });
});
