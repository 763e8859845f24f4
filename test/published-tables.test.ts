import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parts } from "../scripts/published/parts.mjs";
import { tables, tableText } from "../scripts/published/tables.mjs";
import { checkPublishedTables } from "../scripts/published-tables.mjs";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cdckit-published-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const environment = { cpu: "A CPU", cores: 2, memoryBytes: 8 * 2 ** 30, node: "v20.20.2" };

function codec(name: string, writeMs: number, readMs: number, sizeBytes: number): object {
  return { codec: name, sizeBytes, write: { ms: { median: writeMs } }, read: { ms: { median: readMs } } };
}

function writeResult(name: string, more: object): void {
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({ schemaVersion: 1, aborted: false, startedAt: "2026-11-22T23:00:00Z", environment, ...more }),
  );
}

describe("the tables of published benchmarks", () => {
  test("have a place for each benchmark in the document, and are as the results in the repository are", () => {
    expect(checkPublishedTables(join(import.meta.dirname, ".."))).toEqual([]);
  });

  test("say that nothing was measured if there is no result", () => {
    for (const benchmark of Object.keys(tables)) {
      expect(tableText(benchmark, folder)).toMatch(/No full run has been recorded yet/);
    }
  });

  test("have figures and multiples of the results beside the published ones", () => {
    const codecs = [codec("json", 200, 400, 16_000_000), codec("json, gzip", 800, 600, 4_000_000)];
    writeResult("e-codec", { suites: [{ suite: "soa", mode: "list", rows: 100_000, codecs }] });
    const text = tableText("E", folder);
    expect(text).toContain(
      "| json | 0.47 (1.00x) | 0.200 (1.00x) | 1.08 (1.00x) | 0.400 (1.00x) | 16,388,848 (1.00x) | 16,000,000 (1.00x) |",
    );
    expect(text).toContain(
      "| json.gz | 1.88 (4.02x) | 0.800 (4.00x) | 1.52 (1.40x) | 0.600 (1.50x) | 5,887,318 (0.36x) | 4,000,000 (0.25x) |",
    );
    expect(text).toContain("| avro | 9.12 (19.51x) | - |");
    expect(text).toMatch(/\n\nMeasured on 2026-11-22: A CPU, 2 cores, 8 GiB, Node v20.20.2\.$/);
  });

  test("take nothing from a result that was interrupted", () => {
    writeResult("e-codec", { aborted: true, suites: [{ mode: "list", codecs: [codec("json", 1, 1, 1)] }] });
    expect(tableText("E", folder)).toContain("No full run has been recorded yet");
  });

  test("each benchmark has a part that measures it", () => {
    expect([...new Set(parts.map(({ benchmark }) => benchmark))].sort()).toEqual(Object.keys(tables).sort());
  });
});
