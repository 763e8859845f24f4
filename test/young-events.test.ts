import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const child = fileURLToPath(new URL("young-events-child.mjs", import.meta.url));

/** V8 decides where it makes objects only while its young generation has its full size, so it has that from the start. */
const flags = ["--expose-gc", "--min-semi-space-size=16", "--max-semi-space-size=16"];

describe("events that nobody holds die young", () => {
  test.each([
    ["salesorderdetail/json-with-schema", "JSON with schema"],
    ["salesorderdetail/json", "JSON"],
    ["salesorderdetail/confluent-avro", "Avro"],
    ["postgres-debezium-3.5/tfj.inv.composite_pk", "flattened JSON"],
    ["postgres-debezium-3.5/tfs.inv.composite_pk", "flattened JSON with schema"],
  ])("of %s (%s), also if the first ones were held over collections", { concurrent: true, timeout: 120_000 }, async (recording) => {
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, child, recording]);
    const { events, promotedBytesPerRecord } = JSON.parse(stdout) as { events: number; promotedBytesPerRecord: number };
    expect(events).toBe(200_000);
    // With rows or lists in the old generation, it is 300 and more. Where header names change from record to record, it is 90.
    expect(promotedBytesPerRecord).toBeLessThan(150);
  });
});
