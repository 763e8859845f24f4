import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** As `npm run bench -- flow` starts it, with less. */
const child = fileURLToPath(new URL("../bench/dist/flow-child.js", import.meta.url));
const skipReason = existsSync(child) ? null : "the packages are not built: npm run build";

const heapMib = 64;
const bytes = 10 * heapMib * 1e6;
const maxInFlightBytes = 2 ** 23;

interface Flowed {
  readonly records: number;
  readonly bytes: number;
  readonly heapLimitBytes: number;
  readonly peakInFlightBytes: number;
  readonly largestBatchBytes: number;
  readonly marks: Readonly<Record<string, { readonly missing: number; readonly repeated: number }>>;
}

describe("memory is bounded by bytes in flight", () => {
  test.skipIf(skipReason !== null).each([
    ["a handler", "handler", ["handler"]],
    ["two sinks, one of them slow", "sinks", ["fast", "slow"]],
  ])(
    "ten times its heap flows through a consumer with %s, and each record is handled once",
    { concurrent: true, timeout: 120_000, meta: skipReason === null ? {} : { skipReason } },
    async (_, variant, handledBy) => {
      const flowed = await flow({ bytes, variant, brokers: null, mix: "wide", maxInFlightBytes, slowForMs: 500 });
      expect(flowed.bytes).toBeGreaterThanOrEqual(bytes * 0.99);
      expect(flowed.heapLimitBytes).toBeLessThan(2 * heapMib * 2 ** 20); // it includes what is young
      expect(flowed.peakInFlightBytes).toBeLessThanOrEqual(maxInFlightBytes + flowed.largestBatchBytes);
      // Else nothing was held back, and this shows nothing.
      expect(flowed.peakInFlightBytes).toBeGreaterThanOrEqual(maxInFlightBytes);
      expect(flowed.marks).toEqual(
        Object.fromEntries(handledBy.map((name) => [name, { records: flowed.records, missing: 0, repeated: 0 }])),
      );
    },
  );
});

/** In a process of its own, which dies where its heap is not enough. */
function flow(options: object): Promise<Flowed> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, [`--max-old-space-size=${heapMib}`, child, JSON.stringify(options)]);
    let [said, failed] = ["", ""];
    running.stdout.on("data", (text: Buffer) => (said += String(text)));
    running.stderr.on("data", (text: Buffer) => (failed += String(text)));
    running.once("close", (code, signal) =>
      code === 0 ? resolve(JSON.parse(said) as Flowed) : reject(new Error(`it ended with ${code ?? signal}: ${failed.slice(-2_000)}`)),
    );
  });
}
