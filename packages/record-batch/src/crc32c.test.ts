import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crc32c, loadNativeCrc32c } from "./crc32c.ts";
import { crc32cInScript } from "./crc32c-in-script.ts";

const native = loadNativeCrc32c();

test("the checksum is that of RFC 3720, at any length and place", () => {
  const zeros = new Uint8Array(32);
  const rising = Uint8Array.from({ length: 32 }, (_, i) => i);
  for (const checksum of [crc32c, crc32cInScript]) {
    expect(checksum(zeros.fill(0), 0, 32)).toBe(0x8a9136aa);
    expect(checksum(zeros.fill(0xff), 0, 32)).toBe(0x62a8ab43);
    expect(checksum(rising, 0, 32)).toBe(0x46dd794e);
    expect(checksum(Buffer.from("x123456789x"), 1, 10)).toBe(0xe3069283);
  }
});

describe("the native checksum", () => {
  test("is that of our code, at any length and place, of a Buffer and of any other view", (context) => {
    if (native === null) {
      context.skip("@node-rs/crc32 has no binary for this platform");
    }
    const spans = fc.tuple(fc.uint8Array({ maxLength: 20_000, size: "max" }), fc.nat(64), fc.nat(64), fc.boolean());
    fc.assert(
      fc.property(spans, ([noise, before, after, isBuffer]) => {
        const start = Math.min(before, noise.length);
        const end = Math.max(start, noise.length - after);
        const bytes = isBuffer ? Buffer.from(noise) : noise;
        const expected = crc32cInScript(bytes, start, end);
        expect(native?.(bytes.subarray(start, end))).toBe(expected);
        expect(crc32c(bytes, start, end)).toBe(expected);
      }),
    );
  });
});
