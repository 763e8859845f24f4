import { promisify } from "node:util";
import { unzip, unzipSync } from "node:zlib";
import { chunkBytes } from "./chunk-bytes.ts";
import { damaged, tooLarge } from "./output-limit.ts";

const unzipInPool = promisify(unzip);

/** Unpacks gzip within the limit. */
export function gunzip(bytes: Buffer, maxBytes: number): Buffer {
  try {
    return unzipSync(bytes, { maxOutputLength: maxBytes, chunkSize: chunkBytes(bytes.length) });
  } catch (error) {
    throw refusal(error, bytes, maxBytes);
  }
}

/** The same on a thread of Node's pool. */
export async function gunzipInPool(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await unzipInPool(bytes, { maxOutputLength: maxBytes, chunkSize: chunkBytes(bytes.length) });
  } catch (error) {
    throw refusal(error, bytes, maxBytes);
  }
}

function refusal(error: unknown, bytes: Buffer, maxBytes: number): Error {
  return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
    ? tooLarge("gzip", bytes.length, maxBytes)
    : damaged("gzip", "zlib cannot read it", error);
}
