// By its default export: users give a bundle a `createRequire` of their own, as kafkajs needs, and a bundler lets the two names collide.
import nodeModule from "node:module";
import { crc32cInScript } from "./crc32c-in-script.ts";

/** Calling native code costs as much as checking so many bytes in JavaScript. Measured by the suite `record-batch`. */
const minNativeBytes = 512;

/** The checksum by `@node-rs/crc32`. */
export type NativeCrc32c = (bytes: Uint8Array) => number;

let native: NativeCrc32c | null | undefined;

/** The CRC-32C of the bytes from `start` to `end`, as an unsigned number: by the optional package `@node-rs/crc32` if it is installed. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < minNativeBytes) {
    return crc32cInScript(bytes, start, end);
  }
  native = native === undefined ? loadNativeCrc32c() : native;
  return native === null ? crc32cInScript(bytes, start, end) : native(bytes.subarray(start, end));
}

/**
 * Null if the package is not installed, or does not load on this platform. `zlib.crc32` of Node is no substitute: it has another polynomial.
 */
export function loadNativeCrc32c(): NativeCrc32c | null {
  try {
    // Here and not above: in a bundle of CommonJS the module has no address, and this throws.
    const { crc32c: loaded } = nodeModule.createRequire(import.meta.url)("@node-rs/crc32") as { readonly crc32c: NativeCrc32c };
    return loaded(Buffer.from("123456789")) === 0xe3069283 ? loaded : null; // the check value of this checksum
  } catch {
    return null;
  }
}
