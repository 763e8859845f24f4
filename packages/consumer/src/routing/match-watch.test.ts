import { expect, test } from "vitest";
import { MatchWatch, noteMatch } from "./match-watch.ts";
import { parseTablePattern } from "./table-pattern.ts";

test("a pattern that takes a table in each of many schemas keeps and names only the first ones", () => {
  const watch = new MatchWatch();
  const pattern = watch.watch(
    'on("orders")',
    parseTablePattern("orders", () => false),
  );
  for (let tenant = 0; tenant < 5_000; tenant++) {
    noteMatch(pattern, { database: "shop", schema: `tenant${tenant}`, name: "orders" });
  }
  expect(pattern.tables.size).toBeLessThan(50);
  const [reason] = watch.reasons([]);
  expect(reason?.text).toMatch(
    /^on\("orders"\) is ambiguous: it takes shop\.tenant0\.orders and .* and others; write which of them is meant$/,
  );
  expect(reason?.text.length).toBeLessThan(2_000);
});
