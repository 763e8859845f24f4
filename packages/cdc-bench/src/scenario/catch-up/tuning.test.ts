import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { defaultTuning, deliveryOf, driverTuningOf, type Tuning, tuningText } from "./tuning.ts";

const package_ = fileURLToPath(new URL("../../../", import.meta.url));
const compiler = fileURLToPath(new URL("../../../../../node_modules/.bin/tsc", import.meta.url));

describe("a tuning", () => {
  test("with caps has a batch, whose unnamed limits have no bound", () => {
    expect(deliveryOf({ ...defaultTuning, batchEvents: 500 }).batch).toEqual({ maxEvents: 500, maxMs: 100 });
    expect(deliveryOf(defaultTuning).batch).toBeUndefined();
  });

  test("never asks for less of all partitions than of one", () => {
    expect(driverTuningOf({ ...defaultTuning, fetchBytes: 20_000_000 })).toMatchObject({
      maxBytesPerPartition: 20_000_000,
      maxBytes: 20_000_000,
    });
  });

  test("leaves the sizes of fetches to the driver, and out of what is pasted, unless they are set", () => {
    expect(driverTuningOf(defaultTuning)).not.toHaveProperty("maxBytesPerPartition");
    expect(tuningText(defaultTuning)).not.toContain("maxBytesPerPartition");
    expect(tuningText({ ...defaultTuning, fetchBytes: 65_536 })).toContain("maxBytesPerPartition: 65_536,");
    expect(tuningText(defaultTuning)).not.toContain("maxDecompressedBytes");
    expect(tuningText({ ...defaultTuning, maxDecompressedBytes: 1_000_000_000 })).toContain("maxDecompressedBytes: 1_000_000_000,");
  });

  test("is TypeScript to paste, which compiles", () => {
    const all: Tuning = {
      ...defaultTuning,
      batchEvents: 16_000,
      batchBytes: 16_000_000,
      batchMs: 50,
      inFlight: 4,
      fetchBytes: 4_194_304,
      concurrency: 16,
      order: "none",
    };
    const folder = mkdtempSync(join(package_, ".tuning-"));
    try {
      const files = [defaultTuning, all].map((tuning, i) => {
        const file = join(folder, `pasted-${i}.ts`);
        writeFileSync(file, `${tuningText(tuning)}\nexport { consumer };\n`);
        return file;
      });
      const options = [
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--skipLibCheck",
        "--module",
        "nodenext",
        "--target",
        "es2023",
        "--types",
        "node",
      ];
      const { stdout, status } = spawnSync(compiler, [...options, ...files], { encoding: "utf8", cwd: package_ });
      expect([status, stdout]).toEqual([0, ""]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(tuningText(all)).toContain("batch: { maxEvents: 16_000, maxBytes: 16_000_000, maxMs: 50 }");
  });
});
