import { expect, test } from "vitest";
import { resolveLimits, resolveValueOptions } from "../../options.ts";
import { fastPathMiss } from "../fast-path.ts";
import { type ReadPlan, readEverything } from "../reader.ts";
import type { RecordType, Type } from "../type.ts";
import { generateFastReader } from "./generate.ts";
import { learnType } from "./learn.ts";
import { convertContext, JsonReader } from "./reader.ts";

const values = resolveValueOptions();
const limits = resolveLimits();
const options = { values, limits, plan: readEverything, codeGeneration: true };
const parse = { maxDepth: limits.maxDepth };

function isGenerated(type: RecordType): boolean {
  return generateFastReader(type, options, convertContext(options, parse), parse) !== null;
}

function recordOf(...fields: [string, Type][]): RecordType {
  return { kind: "record", name: null, fields: fields.map(([name, type]) => ({ name, type })) };
}

const int: Type = { kind: "int" };

test("a reader is generated for a table of columns with long names", () => {
  expect(isGenerated(recordOf(...Array.from({ length: 100 }, (_, i): [string, Type] => [`${"c".repeat(60)}${i}`, int])))).toBe(true);
});

test("no reader is generated for a name of a hundred thousand characters", () => {
  expect(isGenerated(recordOf(["n".repeat(100_000), int]))).toBe(false);
});

test("no reader is generated for thousands of fields, at any depth", () => {
  let type = recordOf(...Array.from({ length: 20_000 }, (_, i): [string, Type] => [`f${i}`, int]));
  for (let depth = 0; depth < 5; depth++) {
    type = recordOf(["inside", type]);
  }
  expect(isGenerated(type)).toBe(false);
});

test("a row that was a text when its type was learned is read as one, without parsing the message; an object misses", () => {
  const plan: ReadPlan = { ...readEverything, rows: ["before", "after"] };
  const sample = { before: null, after: '{"_id": 1}', op: "c" };
  const reader = new JsonReader("json", learnType(sample, Object.keys, plan, new Map()), { ...options, plan });
  const read = (message: object): unknown => {
    const bytes = Buffer.from(JSON.stringify(message));
    return reader.readFast(bytes, 0, bytes.length);
  };
  const others = [sample, { ...sample, before: "é", after: null }, { ...sample, before: "", after: "\n\\" }];
  expect(others.map(read)).toEqual(others);
  expect(read({ ...sample, after: { id: 1 } })).toBe(fastPathMiss);
  expect(read({ ...sample, after: 1 })).toBe(fastPathMiss);
});
