import fc from "fast-check";
import * as zlib from "node:zlib";
import { expect, test } from "vitest";
import { crc32, crc32InScript } from "./crc32.ts";

test("the checksum is that of zlib, at any place, and the same without zlib", () => {
  for (const checksum of [crc32, crc32InScript]) {
    expect(checksum(Buffer.from("x123456789x"), 1, 10)).toBe(0xcbf43926); // the check value of this checksum
    expect(checksum(new Uint8Array(0), 0, 0)).toBe(0);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
      expect(crc32InScript(noise, 0, noise.length)).toBe(zlib.crc32(noise));
    }),
  );
});
