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

/** Receives frames and holds none of them. Prints how many pages the system had to give for each frame of a window, for eight windows. */
const frames = `
  const faults = () => process.resourceUsage().minorPageFault;
  const windows = [];
  for (let window = 0; window < 10; window++) {
    const before = faults();
    for (let i = 0; i < 25; i++) {
      Buffer.allocUnsafeSlow(${pages} * 4_096).fill(1);
      await new Promise(setImmediate);
    }
    windows.push((faults() - before) / 25);
  }
  console.log(JSON.stringify(windows.slice(2)));
`;

test.skipIf(skipReason !== null)(
  "the memory of freed frames is used again, which glibc alone would give back",
  { timeout: 60_000, meta: skipReason === null ? {} : { skipReason } },
  async () => {
    const { code } = transformSync(readFileSync(new URL("freed-frames.ts", import.meta.url)), { loader: "ts" });
    const [kept, givenBack] = await Promise.all([pagesPerFrame(`${code}; keepFreedFrames();`), pagesPerFrame("")]);
    // On a busy machine V8's thread that frees memory comes late, and more frames are there at once than glibc keeps: not in each window.
    expect(Math.min(...kept)).toBeLessThan(pages / 4);
    expect(Math.max(...givenBack)).toBeGreaterThan(pages / 4); // else the block is needless, and this shows nothing
  },
);

async function pagesPerFrame(first: string): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", first + frames]);
  return JSON.parse(stdout) as readonly number[];
}
