import type { Codec } from "../codec.ts";

/** `JSON.stringify` and `JSON.parse`, to and from UTF-8. */
export function jsonCodec<T>(): Codec<T> {
  return {
    name: "json",
    serialize: (value) => Buffer.from(JSON.stringify(value)),
    deserialize: (bytes) => JSON.parse(textOf(bytes)) as T,
  };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
