import { expect, test } from "vitest";
import { parseJson } from "../json/parse.ts";
import { parseConnectSchema } from "./schema.ts";

test.each([
  ["float", "1.5", 1.5],
  ["double", "-1e10", -1e10],
  ["double", "2", 2],
  ["double", "1.5e999", undefined],
  ["int64", "9007199254740993", 9_007_199_254_740_993n],
])("the default of a column of %s that a message writes as %s", (type, text, expected) => {
  const bytes = Buffer.from(`{"type":"struct","fields":[{"field":"c","type":"${type}","optional":true,"default":${text}}]}`);
  const schema = parseConnectSchema(parseJson(bytes, 0, bytes.length, { maxDepth: 10 }), "the schema", 10);
  expect(schema.kind === "record" ? schema.fields[0]?.defaultValue : null).toBe(expected);
});
