import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";

const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
const skipReason = header.glibcVersionRuntime === undefined ? "the allocator is not glibc's" : null;

/** A frame of 4 MiB has so many pages. */
const pages = 1_024;

/** Receives frames and holds none of them. Prints how many pages the system had to give for each of the last hundred. */
const frames = `
  const faults = () => process.resourceUsage().minorPageFault;
  let before = 0;
  for (let i = 0; i < 200; i++) {
    before = i === 100 ? faults() : before;
    Buffer.allocUnsafeSlow(${pages} * 4_096).fill(1);
    await new Promise(setImmediate);
  }
  console.log((faults() - before) / 100);
`;

test.skipIf(skipReason !== null)(
  "the memory of freed frames is used again, which glibc alone would give back",
  { timeout: 60_000, meta: skipReason === null ? {} : { skipReason } },
  async () => {
    const { code } = transformSync(readFileSync(new URL("freed-frames.ts", import.meta.url)), { loader: "ts" });
    const [kept, givenBack] = await Promise.all([pagesPerFrame(`${code}; keepFreedFrames();`), pagesPerFrame("")]);
    expect(kept).toBeLessThan(pages / 4);
    expect(givenBack).toBeGreaterThan(pages / 4); // else the block is needless, and this shows nothing
  },
);

async function pagesPerFrame(first: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", first + frames]);
  return Number(stdout);
}
