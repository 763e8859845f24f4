import { inspect, isDeepStrictEqual } from "node:util";
import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import { plainConstructor, setIfDefined } from "./plain-constructor.ts";

const Point = plainConstructor(function (x: number, y?: number) {
  this["x"] = x;
  setIfDefined(this, "y", y);
});

test("what is constructed cannot be told from a literal", () => {
  const [point, literal] = [new Point(1, 2), { x: 1, y: 2 }];
  expect(Object.getPrototypeOf(point)).toBe(Object.prototype);
  expect(isDeepStrictEqual(point, literal)).toBe(true);
  expect(inspect(point)).toBe(inspect(literal));
  expect(JSON.stringify(point)).toBe(JSON.stringify(literal));
});

test("a field without a value is left out, and null is a value", () => {
  const point = new Point(1);
  expect(Object.keys(point)).toEqual(["x"]);
  setIfDefined(point, "z", null);
  expect(inspect(point)).toBe("{ x: 1, z: null }");
});

const maxwell = { database: "d", table: "t", type: "insert", ts: 5, xid: 7, position: "m.1:9", server_id: 3, data: { id: 1 } };
const canal = { data: [{ id: "1" }], database: "d", es: 5, id: 2, isDdl: false, old: null, table: "t", ts: 6, type: "INSERT" };
const dms = {
  data: { id: 1 },
  metadata: { "record-type": "data", operation: "insert", "schema-name": "s", "table-name": "t", "transaction-id": 7 },
};

test.each<[string, object, string]>([
  [
    "Maxwell",
    maxwell,
    "{ connector: 'mysql', db: 'd', snapshot: 'false', ts_ms: 5000, table: 't', server_id: 3, xid: 7, file: 'm.1', pos: 9 }",
  ],
  ["Canal", canal, "{ db: 'd', table: 't', ts_ms: 5, snapshot: 'false', id: 2, connector: 'mysql' }"],
  ["DMS", dms, "{ connector: 'dms', schema: 's', snapshot: 'false', table: 't', ts_ms: null, 'transaction-id': 7 }"],
])("the source of %s is a plain object, in the order of its fields", (_name, message, shown) => {
  const events = createDecoder().decode(recordOf(JSON.stringify(message)));
  const [event] = events instanceof Promise ? [] : events;
  const raw = event?.kind === "change" ? event.source.raw : null;
  expect(Object.getPrototypeOf(raw)).toBe(Object.prototype);
  expect(inspect(raw, { breakLength: Infinity })).toBe(shown);
});
