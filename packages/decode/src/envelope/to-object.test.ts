import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import { UNAVAILABLE } from "../values/unavailable.ts";

const source = `{"version":"3.5","connector":"postgresql","name":"s","db":"d","schema":"inventory","table":"products","lsn":27}`;
const after = `{"id":1,"big":"__debezium_unavailable_value","__proto__":{"x":1}}`;

test("an event's plain object can be cloned if unavailable columns are replaced", () => {
  const value = Buffer.from(`{"before":null,"after":${after},"source":${source},"op":"u","ts_ms":5}`);
  const events = createDecoder().decode(recordOf(value, { offset: 1n }));
  const [event] = events instanceof Promise ? [] : events;
  expect(event?.toObject()["after"]).toMatchObject({ id: 1, big: UNAVAILABLE });
  expect(() => structuredClone(event?.toObject())).toThrow(/could not be cloned/);

  const plain = event?.toObject({ unavailable: null });
  const clone = structuredClone(plain);
  expect(clone).toEqual(plain);
  expect(clone).toMatchObject({ kind: "change", op: "update", table: { database: "d", schema: "inventory", name: "products" }, tsMs: 5 });
  expect(clone?.["after"]).toEqual(JSON.parse(after.replace('"__debezium_unavailable_value"', "null")));
  expect(clone?.["source"]).toMatchObject({ connector: "postgresql", position: { lsn: 27 } });
  expect(event?.toObject({ unavailable: undefined })["after"]).toMatchObject({ id: 1, big: undefined });
});

test("a plain object leaves out extra, keyChange and updateDescription if they are null, and has every other field that is null", () => {
  const events = createDecoder().decode(recordOf(`{"before":null,"after":{"id":1},"source":${source},"op":"c","ts_ms":5}`));
  const [event] = events instanceof Promise ? [] : events;
  expect(event).toMatchObject({ kind: "change", extra: null, keyChange: null, updateDescription: null });
  const plain = event?.toObject() ?? {};
  expect(["extra", "keyChange", "updateDescription"].filter((name) => name in plain)).toEqual([]);
  expect(plain).toMatchObject({ before: null, transaction: null, schemaId: null, key: null });
});
