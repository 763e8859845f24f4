import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { zstdFrames } from "./zstd-frames.ts";

const folder = fileURLToPath(new URL("../../vectors/", import.meta.url));
const files = readdirSync(folder).filter((file) => file.includes(".zstd"));
const areWholeFrames = (bytes: Buffer): boolean => zstdFrames(bytes) !== null;
const skippable = Buffer.from("502a4d1803000000aabbcc", "hex"); // three bytes that a reader skips

describe.each(files)("the frames of %s, which zstd's own code wrote", (file) => {
  const bytes = readFileSync(join(folder, file));

  test("are whole, also several of them, and with others between", () => {
    expect(areWholeFrames(bytes)).toBe(true);
    expect(areWholeFrames(Buffer.concat([bytes, skippable, bytes]))).toBe(true);
  });

  test("are not when the last is cut, or followed by what is none", () => {
    for (let cut = 0; cut < Math.min(bytes.length, 5_000); cut++) {
      expect(areWholeFrames(bytes.subarray(0, cut)) ? `cut at ${cut}` : "not whole").toBe("not whole");
    }
    expect(areWholeFrames(bytes.subarray(0, -1))).toBe(false);
    expect(areWholeFrames(Buffer.concat([bytes, Buffer.from([0])]))).toBe(false);
  });
});

test("a skippable frame that is cut is not whole", () => {
  expect(areWholeFrames(skippable.subarray(0, -1))).toBe(false);
});

test("noise ends in an answer", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => typeof areWholeFrames(Buffer.from(noise)) === "boolean"));
});
