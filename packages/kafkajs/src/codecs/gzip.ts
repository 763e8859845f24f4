import { promisify } from "node:util";
import { unzip } from "node:zlib";
import { damaged, outputLimit, tooLarge } from "./output-limit.ts";

const unzipAsync = promisify(unzip);

/** Unpacks gzip within the limit. kafkajs' own codec has no limit. */
export async function gunzip(bytes: Buffer): Promise<Buffer> {
  try {
    return await unzipAsync(bytes, { maxOutputLength: outputLimit(bytes.length) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLarge("gzip", bytes.length);
    }
    throw damaged("gzip", "zlib cannot read it", error);
  }
}
