import { UNAVAILABLE } from "@cdckit/decode";
import { expect, test } from "vitest";
import { groupsOf } from "./row-groups.ts";
import type { TableColumns } from "./table-columns.ts";

const target = { schema: "public", name: "orders" };
const columns: TableColumns = new Map([
  [
    "id",
    {
      type: "bigint",
      maxLength: null,
      keptLength: null,
      keptUnits: null,
      maxScale: null,
      maxWhole: null,
      isDomain: false,
      comparedAs: null,
      isGenerated: false,
      isIdentity: false,
      form: "20 -1",
      hasPlainTexts: false,
    },
  ],
]);

test.each([[null], [undefined], [UNAVAILABLE]])("a column that the table lacks is left out if a row has no value for it: %s", (note) => {
  const groups = groupsOf(target, [{ key: { id: 1 }, row: { id: 1, note }, isNew: false }], columns);
  expect(groups).toMatchObject([{ kind: "upsert", names: ["id"] }]);
});

test("a value without a column is refused, and not left out", () => {
  const write = (): unknown => groupsOf(target, [{ key: { id: 1 }, row: { id: 1, note: "a" }, isNew: false }], columns);
  expect(write).toThrow('[schema-mismatch] "public"."orders" has no column "note", and a row has a value for it');
});
