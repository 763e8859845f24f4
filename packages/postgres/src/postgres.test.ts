import type { SchemaSeen } from "@cdckit/decode";
import { expect, test } from "vitest";
import { postgres } from "./postgres.ts";

test("nothing is kept of the schemas of tables that tableFor leaves out", () => {
  const read: string[] = [];
  const seen = (name: string): SchemaSeen =>
    ({
      table: { name },
      side: "value",
      get row() {
        read.push(name);
        return null;
      },
    }) as unknown as SchemaSeen; // what a sink reads
  const sink = postgres({
    tableFor: ({ name }) => {
      if (name === "odd") {
        throw new Error("who knows");
      }
      return name === "orders" ? { name } : null;
    },
  });
  ["orders", "customers", "odd"].forEach((name) => sink.schemaSeen(seen(name)));
  expect(read).toEqual(["orders", "odd"]);
});
