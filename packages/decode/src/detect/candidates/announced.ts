import { isDecodeError } from "../../errors.ts";
import type { SideTools } from "../side-tools.ts";
import type { Candidate } from "./candidate.ts";
import { readUnlessUnknown } from "./framed.ts";

/** Messages whose framing is announced by header names. Null if no header name announces one. */
export function announced(side: SideTools): Candidate | null {
  const framings = side.scope.announced;
  if (framings.length === 0) {
    return null;
  }
  return {
    read: (message) => {
      const framing = framings.find((candidate) => candidate.recognise(message) !== null);
      if (framing === undefined) {
        return null;
      }
      const frame = framing.open(message);
      const read = readUnlessUnknown(side, message, { framing, frame });
      if (!isDecodeError(read)) {
        return read;
      }
      if (frame.isAmbiguous !== true) {
        throw read;
      }
      message.declined = { framing, error: read };
      return null;
    },
  };
}
