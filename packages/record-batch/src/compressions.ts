import { RecordBatchError } from "./errors.ts";

/** Compressions by their number in the attributes. */
export const compressionNames = ["none", "gzip", "snappy", "lz4", "zstd"] as const;

/** The compression of this number. `names`: those that the message format has. */
export function compressionOf<Name extends string>(code: number, names: readonly Name[]): Name {
  const name = names[code];
  if (name === undefined) {
    throw new RecordBatchError(
      "unsupported-compression",
      `expected one of the compressions 0 to ${names.length - 1}, found ${code}. Use a newer version of this package, or another compression in the producer`,
      { expected: `0 to ${names.length - 1}`, found: code },
    );
  }
  return name;
}
