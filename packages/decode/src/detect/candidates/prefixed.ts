import { type DecodeError, isDecodeError } from "../../errors.ts";
import type { Frame, Framing } from "../../framing/framing.ts";
import type { Declined, SideMessage } from "../side-message.ts";
import type { SideTools } from "../side-tools.ts";
import type { Candidate } from "./candidate.ts";
import { readUnlessUnknown } from "./framed.ts";

const openBrace = 0x7b;

/**
 * Messages that begin with a frame. Some frames are ambiguous: other bytes may begin in the same way by chance. Such a frame is dropped
 * only if its schema does not exist. A frame whose schema exists but does not fit the payload is an error. Frames of earlier messages of
 * the topic are not used as evidence, because the result must not depend on which messages this process has read before.
 */
export function prefixed(side: SideTools): Candidate {
  const { framingOrder, schemas } = side.engine;
  const needsSource = schemas === null && side.scope.side === "key";
  return {
    read: (message) => {
      let declined: (Declined & { readonly isAmbiguous: boolean }) | null = null;
      for (const framing of framingOrder.of(message.bytes, message.start, message.end)) {
        if (framing.recognise(message) === null) {
          continue;
        }
        const frame = openUnlessOwn(framing, message);
        if (isDecodeError(frame)) {
          declined ??= { framing, error: frame, isAmbiguous: true };
          continue;
        }
        if (needsSource && declined === null && framing.isAskedFirst !== true && !isSelfContained(frame)) {
          continue; // without a source, a user's own key is more likely than such a frame
        }
        const read = readUnlessUnknown(side, message, { framing, frame });
        if (!isDecodeError(read)) {
          return read;
        }
        declined = { framing, error: read, isAmbiguous: frame.isAmbiguous ?? mayBeOwn(message) };
      }
      if (declined?.isAmbiguous === false) {
        throw declined.error;
      }
      message.declined ??= declined;
      return null;
    },
  };
}

/**
 * Whether the bytes may be something other than a frame. A user's own key may be any bytes (a hash, ids side by side), and a user's own
 * JSON row may have the columns of a frame.
 */
function mayBeOwn({ side, bytes, start }: SideMessage): boolean {
  return side === "key" || bytes[start] === openBrace;
}

/**
 * The frame, or why it is broken if the bytes may be a user's own key: random bytes begin with a mark of two bytes once in 65,536 keys. A frame
 * that is asked first is certain enough to be an error.
 */
function openUnlessOwn(framing: Framing, message: SideMessage): Frame | DecodeError {
  try {
    return framing.open(message);
  } catch (error) {
    if (message.side === "key" && framing.isAskedFirst !== true && isDecodeError(error)) {
      return error;
    }
    throw error;
  }
}

/** Whether a frame can be read without a source. */
function isSelfContained({ schema, schemaId }: Frame): boolean {
  return schema !== undefined || schemaId === null;
}
