import { isUtf8 } from "node:buffer";
import { DecodeError } from "../../errors.ts";
import type { PlainEncoding } from "../schema-encoding.ts";

/** Text as it stands: what a key is that nothing else recognises, if it is UTF-8. */
export const text: PlainEncoding = {
  name: "text",
  type: null,
  evidence: "neither framed nor JSON as JSON is written, and valid UTF-8",
  parse: (bytes, start, end) => {
    const slice = bytes.subarray(start, end);
    if (!isUtf8(slice)) {
      throw new DecodeError("invalid-utf8", "expected UTF-8 text, as topics[topic] states, found other bytes");
    }
    return slice.toString("utf8");
  },
};

/** Bytes as they stand: what every other key is. */
export const bytes: PlainEncoding = {
  name: "bytes",
  type: null,
  evidence: "neither framed nor JSON, and not UTF-8",
  parse: (source, start, end) => Buffer.from(source.subarray(start, end)),
};
