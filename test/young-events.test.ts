import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const child = fileURLToPath(new URL("young-events-child.mjs", import.meta.url));

/** V8 decides where it makes objects only while its young generation has its full size, so it has that from the start. */
const flags = ["--expose-gc", "--min-semi-space-size=16", "--max-semi-space-size=16"];

describe("events that nobody holds die young", () => {
  test.each(["json-with-schema", "json", "confluent-avro"])(
    "of %s, also if the first ones were held over collections",
    { concurrent: true, timeout: 120_000 },
    async (name) => {
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, child, `salesorderdetail/${name}`]);
      const { changes, promotedBytesPerRecord } = JSON.parse(stdout) as { changes: number; promotedBytesPerRecord: number };
      expect(changes).toBe(200_000);
      // With rows or lists in the old generation, it is 500 and more.
      expect(promotedBytesPerRecord).toBeLessThan(50);
    },
  );
});
