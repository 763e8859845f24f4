import { type DecodeError, isDecodeError } from "../../errors.ts";
import type { Frame, Framing } from "../../framing/framing.ts";
import type { SideMessage } from "../side-message.ts";
import type { SideResult } from "../side-result.ts";
import type { SideTools } from "../side-tools.ts";

export interface Framed {
  readonly framing: Framing;
  readonly frame: Frame;
}

/** Reads the payload of a frame. If it is certain that its schema does not exist, returns the error that says so. */
export function readUnlessUnknown({ frames }: SideTools, message: SideMessage, { framing, frame }: Framed): SideResult | DecodeError {
  try {
    return frames.read(framing, frame, message.failed);
  } catch (error) {
    if (!isCertainlyUnknown(error)) {
      throw error;
    }
    return error;
  }
}

/**
 * Whether it is certain that the schema does not exist: the source has said so, or there is no source. An outage, or a missing reference,
 * is not certain.
 */
function isCertainlyUnknown(error: unknown): error is DecodeError {
  if (!isDecodeError(error) || (error.code !== "schema-not-found" && error.code !== "schema-source-missing")) {
    return false;
  }
  const { cause } = error;
  return !(typeof cause === "object" && cause !== null && "isCertain" in cause && cause.isCertain === false);
}
