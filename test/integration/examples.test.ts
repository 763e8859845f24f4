import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { withStack } from "./stack.ts";

const root = join(import.meta.dirname, "../..");
const quickstart = join(root, "examples/quickstart");
const found = await withStack();
const isBuilt = existsSync(join(root, "packages/cdckit/dist/index.js"));
const skipReason =
  found.skip !== false ? found.skip : isBuilt ? "" : "the packages are not built: run `npm test`, or `npm run build` first";

test("the quickstart service fits on a screen: under 40 lines", () => {
  expect(readFileSync(join(quickstart, "index.js"), "utf8").trimEnd().split("\n").length).toBeLessThan(40);
});

describe.skipIf(skipReason !== "")("the quickstart service, as a user runs it", { meta: { skipReason } }, () => {
  let id = 0;

  beforeAll(async () => {
    if (found.skip !== false) return;
    const client = new pg.Client({ ...found.part.postgres });
    await client.connect();
    const { rows } = await client.query<{ id: string }>(
      `insert into sales.salesorderdetail values (default, 1, 1, null, 3, 7, 1, 10.5, 0, 31.5, gen_random_uuid(), now()) returning id`,
    );
    id = Number(rows[0]?.id);
    await client.query("update sales.salesorderdetail set orderqty = 4 where id = $1", [id]);
    await client.query("delete from sales.salesorderdetail where id = $1", [id]);
    await client.end();
  });

  for (const prefix of ["av", "js", "jn"]) {
    test(`prints the changes of ${prefix}.sales.salesorderdetail until it is stopped, and ends well`, async () => {
      if (found.skip !== false) return;
      const env = { ...process.env, KAFKA_BROKERS: found.part.brokers, SCHEMA_REGISTRY_URL: found.part.registryUrl };
      const service = spawn(process.execPath, ["index.js", `${prefix}.sales.salesorderdetail`], {
        cwd: quickstart,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void service.kill("SIGKILL"));
      const ended = new Promise((resolve) => service.once("exit", resolve));
      const printed: string[] = [];
      for await (const line of createInterface({ input: service.stdout })) {
        printed.push(line);
        if (line === `- ${id}`) service.kill("SIGTERM");
      }
      expect(printed[0]).toBe(`following ${prefix}.sales.salesorderdetail on ${found.part.brokers}`);
      const price = prefix === "jn" ? "AZoo" : "10.5000"; // plain JSON does not say that this is a decimal
      expect(printed.slice(-3).map((line) => line.replace(/ = .*/, ""))).toEqual([
        `+ ${id}: 3 x ${price}`,
        `~ ${id}: 3 x ${price} -> 4 x ${price}`,
        `- ${id}`,
      ]);
      expect(await ended).toBe(0);
    });
  }
});
