import { isDecodeError } from "../../errors.ts";
import type { Frame } from "../../framing/framing.ts";
import type { Declined, SideMessage } from "../side-message.ts";
import type { SideTools } from "../side-tools.ts";
import type { Candidate } from "./candidate.ts";
import { readUnlessUnknown } from "./framed.ts";

const openBrace = 0x7b;

/**
 * Messages that begin with a frame. Bytes that look like one framing's may be another's or nobody's: then nobody knows the schema that they
 * name. A message that its own schema does not fit is no such thing. That other messages of the topic are framed is no evidence: what a
 * message is must not depend on which messages this process has read before it.
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
        const frame = framing.open(message);
        if (needsSource && declined === null && framing.prefixOf === undefined && !isSelfContained(frame)) {
          continue; // without a source, any key of the user's is likelier than such a frame
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

/** A user's own key may be bytes of any kind (a hash, ids side by side), and a user's own row may have the columns of a frame in JSON. */
function mayBeOwn({ side, bytes, start }: SideMessage): boolean {
  return side === "key" || bytes[start] === openBrace;
}

/** Whether a frame needs no source to be read. */
function isSelfContained({ schema, schemaId }: Frame): boolean {
  return schema !== undefined || schemaId === null;
}
