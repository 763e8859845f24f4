import { isUtf8 } from "node:buffer";
import { DecodeError } from "../../errors.ts";
import type { PlainEncoding } from "../schema-encoding.ts";
import { notUtf8Text } from "../utf8-text.ts";
import { topicOption } from "../../topic-option.ts";

/** Text as it is. A key is read so if no other format recognises it and it is UTF-8. */
export const text: PlainEncoding = {
  name: "text",
  type: null,
  evidence: "neither framed nor JSON as JSON is written, and valid UTF-8",
  parse: (bytes, start, end) => {
    const slice = bytes.subarray(start, end);
    if (!isUtf8(slice)) {
      throw new DecodeError(
        "invalid-utf8",
        `expected UTF-8 text, which the hint of this topic names, found ${notUtf8Text(bytes, start, end, "message")}, or name another encoding as ${topicOption("value.encoding")} (or key.encoding)`,
      );
    }
    return slice.toString("utf8");
  },
};

/** Bytes as they are. A key is read so if it is not even text, or is more likely binary: it begins with the control character of a frame. */
export const bytes: PlainEncoding = {
  name: "bytes",
  type: null,
  evidence: "neither framed nor JSON, and no text: not UTF-8, or the control character of a frame begins it",
  parse: (source, start, end) => Buffer.from(source.subarray(start, end)),
};
