import { skipByteOrderMark } from "../../encoding/json/byte-order-mark.ts";
import { isCanonicalScalar } from "../../encoding/json/canonical-scalar.ts";
import { beginsDocument, mayBeJson } from "../../encoding/json/text-start.ts";
import { notUtf8Text } from "../../encoding/utf8-text.ts";
import { DecodeError, type DecodeErrorCode, isDecodeError } from "../../errors.ts";
import type { SideMessage } from "../side-message.ts";
import type { SideResult } from "../side-result.ts";
import type { SideTools } from "../side-tools.ts";
import type { Candidate } from "./candidate.ts";

/** The error codes of bytes that are not JSON. */
const notJson: ReadonlySet<DecodeErrorCode> = new Set(["truncated", "malformed", "trailing-bytes", "invalid-utf8"]);
/** Those of a value that begins as no object, list or text does. White space alone may be JSON that was cut. */
const notScalar: ReadonlySet<DecodeErrorCode> = new Set(["malformed", "trailing-bytes", "invalid-utf8"]);

/** Messages that are JSON text, with or without their schema. */
export function jsonText(side: SideTools): Candidate {
  const read = side.scope.side === "key" ? readKey : readValue;
  return {
    read: (message) => {
      const textStart = skipByteOrderMark(message.bytes, message.start, message.end);
      return mayBeJson(message.bytes, textStart, message.end) ? read(side, message, textStart) : null;
    },
  };
}

/**
 * Reads a key that is JSON. Null for a key that only looks like JSON: text that does not parse, a number that JSON would write in another
 * way (`1.10`), or `null` (Connect writes no key at all for null, so that this is text).
 */
function readKey({ text, result }: SideTools, message: SideMessage, textStart: number): SideResult | null {
  const { bytes, start, end } = message;
  if (!beginsDocument(bytes, textStart, end) && !isCanonicalScalar(bytes, start, end)) {
    return null;
  }
  try {
    text.read(bytes, start, end);
    return result;
  } catch (error) {
    if (message.declined !== null || !isDecodeError(error) || !notJson.has(error.code)) {
      throw error;
    }
    return null;
  }
}

/**
 * Reads one JSON text. If more text follows, asks the framings that pack several texts into one message. Null for a value that only begins as
 * a number, a name or white space would: a line of a log, or Protobuf, whose first field often has the tag of a line feed.
 */
function readValue({ text, result, engine, frames }: SideTools, message: SideMessage, textStart: number): SideResult | null {
  const { bytes, start, end } = message;
  try {
    text.read(bytes, start, end);
    return result;
  } catch (error) {
    const framing =
      isDecodeError(error) && error.code === "trailing-bytes"
        ? engine.framingOrder.ofPackedTexts.find((one) => one.recognise(message) !== null)
        : undefined;
    if (framing === undefined) {
      if (isDecodeError(error) && notScalar.has(error.code) && !beginsDocument(bytes, textStart, end)) {
        return null;
      }
      throw isDecodeError(error) && error.code === "invalid-utf8" ? notUtf8(message) : error;
    }
    return frames.read(framing, framing.open(message), message.failed);
  }
}

/** All of a JSON text is UTF-8, so the place is one in the message, and not one in a column's text alone. */
function notUtf8({ bytes, start, end }: SideMessage): DecodeError {
  return new DecodeError("invalid-utf8", `expected JSON text in UTF-8, found ${notUtf8Text(bytes, start, end, "message")}`);
}
