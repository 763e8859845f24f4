import { expect, test } from "vitest";
import { resolveLimits, resolveValueOptions } from "../../options.ts";
import { readEverything } from "../reader.ts";
import type { RecordType, Type } from "../type.ts";
import { generateFastReader } from "./generate.ts";
import { convertContext } from "./reader.ts";

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
