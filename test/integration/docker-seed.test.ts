import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runSql } from "../../scripts/stack/mariadb.mjs";
import { withMariadb } from "./stack.ts";

const folder = join(import.meta.dirname, "../../docker/mysql");
const found = await withMariadb();
/** With a table of this test's: other tests fill tables, too. */
const read = (name: string): string => readFileSync(join(folder, name), "utf8").replaceAll("salesorderdetail", "docker_seed");

describe.skipIf(found.skip !== false)("the SQL of docker/mysql, on MariaDB", { meta: { skipReason: String(found.skip) } }, () => {
  test("makes the table and as many rows as are asked for, each of its own", async () => {
    if (found.skip !== false) {
      return;
    }
    // Without the rights, which the test's user may not give.
    const [table = ""] = read("init.sql").split("grant ");
    const count = "select count(*), count(distinct docker_seedid), count(distinct rowguid) from sales.docker_seed;";
    const printed = await runSql(found.part, `${table} set @rows = 1234; ${read("seed.sql")} ${count} drop table sales.docker_seed;`);
    expect(printed.trim().split("\n")).toEqual(["1234\t1234\t1234"]);
  });
});
