import type { RegisteredSchema } from "@cdckit/decode";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SchemaCache, schemaBytes } from "./schema-cache.ts";

function schemaOf(id: number, chars = 10): RegisteredSchema {
  return { id, schemaType: "AVRO", schema: "x".repeat(chars) };
}

describe("the schema cache", () => {
  test("lets go of what was used longest ago where there are too many", () => {
    const cache = new SchemaCache({ maxSchemas: 3, maxBytes: 1_000 });
    for (const id of [1, 2, 3]) {
      cache.set(schemaOf(id));
    }
    cache.get(1);
    cache.set(schemaOf(4));
    expect([1, 2, 3, 4].filter((id) => cache.get(id) !== undefined)).toEqual([1, 3, 4]);
  });

  test("lets go of as many as it takes where they weigh too much", () => {
    const cache = new SchemaCache({ maxSchemas: 100, maxBytes: 100 });
    for (const id of [1, 2, 3, 4]) {
      cache.set(schemaOf(id, 25));
    }
    cache.set(schemaOf(5, 60));
    expect([1, 2, 3, 4, 5].filter((id) => cache.get(id) !== undefined)).toEqual([4, 5]);
    expect(cache.bytes).toBe(85);
  });

  test("does not keep what is larger than all of it, and lets go of nothing for it", () => {
    const cache = new SchemaCache({ maxSchemas: 10, maxBytes: 100 });
    cache.set(schemaOf(1));
    cache.set(schemaOf(2, 101));
    expect([cache.size, cache.bytes, cache.get(2)]).toEqual([1, 10, undefined]);
  });

  test("weighs the references too, in UTF-8", () => {
    expect(schemaBytes({ id: 1, schemaType: "AVRO", schema: "é", references: [{ name: "n", schema: "€" }] })).toBe(6);
  });

  test("stays within its bounds after a hundred thousand ids", () => {
    const cache = new SchemaCache({ maxSchemas: 50, maxBytes: 1_000 });
    for (let id = 0; id < 100_000; id++) {
      cache.set(schemaOf(id, 1 + (id % 40)));
    }
    expect(cache.size).toBeLessThanOrEqual(50);
    expect(cache.bytes).toBeLessThanOrEqual(1_000);
  });

  test("holds what a plain list in order of use would hold, whatever happens to it", () => {
    const operation = fc.record({ id: fc.nat(12), chars: fc.integer({ min: 0, max: 60 }), isSet: fc.boolean() });
    const property = fc.property(fc.array(operation, { maxLength: 200 }), fc.integer({ min: 1, max: 8 }), (operations, maxSchemas) => {
      const cache = new SchemaCache({ maxSchemas, maxBytes: 100 });
      let list: RegisteredSchema[] = []; // the last is the one used last
      for (const { id, chars, isSet } of operations) {
        const found = list.find((schema) => schema.id === id);
        list = list.filter((schema) => isSet || schema.id !== id);
        if (isSet) {
          cache.set(schemaOf(id, chars));
          list = [...list.filter((schema) => schema.id !== id), schemaOf(id, chars)];
          while (list.length > maxSchemas || list.reduce((sum, schema) => sum + schema.schema.length, 0) > 100) {
            list.shift();
          }
        } else {
          expect(cache.get(id)).toEqual(found);
          list = found === undefined ? list : [...list, found];
        }
        expect(cache.size).toBe(list.length);
        expect(cache.bytes).toBe(list.reduce((sum, schema) => sum + schema.schema.length, 0));
      }
    });
    fc.assert(property, { numRuns: 300 });
  });
});
