import { expect, test } from "vitest";
import type { SchemaSeen } from "../schema-seen.ts";
import { SchemaReport } from "./schema-report.ts";

function reported(names: readonly string[]): readonly number[] {
  const seen: SchemaSeen[] = [];
  const report = new SchemaReport(
    (one) => seen.push(one),
    1_000,
    () => ({}) as Omit<SchemaSeen, "table">,
  );
  return names.map((name) => {
    report.send({ name });
    return seen.length;
  });
}

test("a schema is reported once for each table", () => {
  expect(reported(["a", "a", "b", "a", "b", "c"])).toEqual([1, 1, 2, 2, 2, 3]);
});

test("long names of tables, which senders choose, are not all kept: a schema is reported again for those that were forgotten", () => {
  const [a = "", b = ""] = ["a", "b"].map((letter) => letter.repeat(40_000));
  expect(reported([a, b, a, "c", a])).toEqual([1, 2, 3, 4, 4]);
});
