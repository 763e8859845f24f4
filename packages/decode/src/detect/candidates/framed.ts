import { type DecodeError, isDecodeError } from "../../errors.ts";
import type { Frame, Framing } from "../../framing/framing.ts";
import type { SideMessage } from "../side-message.ts";
import type { SideResult } from "../side-result.ts";
import type { SideTools } from "../side-tools.ts";

export interface Framed {
  readonly framing: Framing;
  readonly frame: Frame;
}

/** What is in the frame; or, if its schema certainly does not exist, the error that says so. */
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

/** Whether a source has answered that there is no such schema, rather than that it could not find out; or there is no source at all. */
function isCertainlyUnknown(error: unknown): error is DecodeError {
  if (!isDecodeError(error) || (error.code !== "schema-not-found" && error.code !== "schema-source-missing")) {
    return false;
  }
  const { cause } = error;
  return !(typeof cause === "object" && cause !== null && "isCertain" in cause && cause.isCertain === false);
}
