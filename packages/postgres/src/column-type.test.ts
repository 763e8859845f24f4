import { semanticTypes, type Type } from "@cdckit/decode";
import { expect, test } from "vitest";
import { columnTypeOf } from "./column-type.ts";

test.each(semanticTypes)("a column of %s has the type of what its values mean, however they were sent", (name) => {
  const semantic = { name, parameters: {} };
  const sent: readonly Type[] = [
    { kind: "boolean", semantic },
    { kind: "double", semantic },
  ];
  const [one, other] = sent.map(columnTypeOf);
  expect(other).toBe(one);
});
