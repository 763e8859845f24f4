import type { CdcEvent, KafkaRecord } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { collectColumn, collectKinds, collectOps, type EventFilter, isEmptyFilter, matchesEvent } from "./event-filter.ts";
import { collectHeader, matchesRecord } from "./record-filter.ts";

const everything: EventFilter = { key: null, tables: [], ops: [], kinds: [], columns: [] };
const table = { database: "shop", schema: "inventory", name: "orders" };
const update = {
  kind: "change",
  op: "update",
  table,
  key: { id: 17n },
  before: { id: 17n, state: "new", note: null },
  after: { id: 17n, state: "sent", note: "null" },
} as unknown as CdcEvent;
const tombstone = { kind: "tombstone", table, key: { id: 17n } } as unknown as CdcEvent;
const heartbeat = { kind: "heartbeat", key: "beat" } as unknown as CdcEvent;

describe("an event", () => {
  test.each<[string, Partial<EventFilter>, readonly CdcEvent[]]>([
    ["of any kind, without a filter", {}, [update, tombstone, heartbeat]],
    ["by its key's JSON, however it is spaced", { key: '{ "id" : 17 }' }, [update, tombstone]],
    ["by its key's text", { key: "beat" }, [heartbeat]],
    ["by a whole table", { tables: ["shop.inventory.orders"] }, [update, tombstone]],
    ["by an end of a table", { tables: ["nothing", "orders"] }, [update, tombstone]],
    ["not by a part of a name", { tables: ["ders"] }, []],
    ["by its operation", { ops: ["delete", "update"] }, [update]],
    ["by its kind", { kinds: ["tombstone", "heartbeat"] }, [tombstone, heartbeat]],
    ["by a column as it is after", { columns: [{ column: "state", value: "sent" }] }, [update]],
    ["by a column as it was before", { columns: [{ column: "state", value: "new" }] }, [update]],
    ["by a column of its key", { columns: [{ column: "id", value: "17" }] }, [update, tombstone]],
    ["by null", { columns: [{ column: "note", value: "null" }] }, [update]],
    ["not by a name that every object has", { columns: [{ column: "constructor", value: "null" }] }, []],
    ["by all filters together", { tables: ["orders"], ops: ["update"], key: '{"id":18}' }, []],
  ])("is found %s", (_name, filter, found) => {
    expect([update, tombstone, heartbeat].filter((event) => matchesEvent({ ...everything, ...filter }, event))).toEqual(found);
  });

  test("is asked nothing by a filter without parts", () => {
    expect(isEmptyFilter(everything)).toBe(true);
    expect(isEmptyFilter({ ...everything, ops: ["read"] })).toBe(false);
  });
});

describe("a record", () => {
  const headers: KafkaRecord["headers"] = [
    ["trace", Buffer.from("a=b")],
    ["empty", null],
  ];
  const record = recordOf(null, { partition: 2, headers });

  test.each([
    [[], [], true],
    [[2, 3], [], true],
    [[0], [], false],
    [[], ["trace"], true],
    [[], ["trace=a=b", "empty"], true],
    [[], ["trace=c"], false],
    [[], ["empty="], false],
    [[], ["trace", "missing"], false],
  ])("of partitions %j with headers %j: %s", (partitions, texts, expected) => {
    const filters = texts.flatMap((text) => collectHeader(text));
    expect(matchesRecord({ partitions, headers: filters }, record)).toBe(expected);
  });
});

describe("flags", () => {
  test("take names and letters, several at once and again", () => {
    expect(collectOps("c, delete", ["update"])).toEqual(["update", "create", "delete"]);
    expect(collectKinds("change,schema-change")).toEqual(["change", "schema-change"]);
    expect(collectColumn("a=b=c", [{ column: "x", value: "" }])).toEqual([
      { column: "x", value: "" },
      { column: "a", value: "b=c" },
    ]);
  });

  test.each([
    [() => collectOps("upsert"), "one of create, update, delete or read"],
    [() => collectKinds("toString"), "one of change, row, tombstone"],
    [() => collectColumn("=1"), "COLUMN=VALUE"],
    [() => collectColumn("id"), "COLUMN=VALUE"],
    [() => collectHeader("=1"), "NAME=VALUE"],
  ])("that say nothing useful are refused: %s", (collect, said) => {
    expect(collect).toThrow(said);
  });
});
