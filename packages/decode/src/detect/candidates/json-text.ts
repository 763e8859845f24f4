import { skipByteOrderMark } from "../../encoding/json/byte-order-mark.ts";
import { isCanonicalScalar } from "../../encoding/json/canonical-scalar.ts";
import { beginsDocument, mayBeJson } from "../../encoding/json/text-start.ts";
import { type DecodeErrorCode, isDecodeError } from "../../errors.ts";
import type { SideMessage } from "../side-message.ts";
import type { SideResult } from "../side-result.ts";
import type { SideTools } from "../side-tools.ts";
import type { Candidate } from "./candidate.ts";

/** What parsing ends in if bytes are no JSON at all. */
const notJson: ReadonlySet<DecodeErrorCode> = new Set(["truncated", "malformed", "trailing-bytes", "invalid-utf8"]);

/** Messages that are JSON text, with their schema or without. */
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
 * Most plain-text keys do not begin like JSON; one that does and is none is text all the same. So is a number that JSON would write in
 * another way, and `null`: Connect writes no key at all for null.
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

/** One text; or, if more follows it, a framing that packs several. */
function readValue({ text, result, engine, frames }: SideTools, message: SideMessage): SideResult {
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
      throw error;
    }
    return frames.read(framing, framing.open(message), message.failed);
  }
}
