import { type DecodeError, type DecodeErrorCode, isDecodeError } from "../../errors.ts";
import type { Frame, Framing } from "../../framing/framing.ts";
import { debeziumNamespace } from "../schema-identity.ts";
import type { SideMessage } from "../side-message.ts";
import type { SideResult } from "../side-result.ts";
import type { SideTools } from "../side-tools.ts";

export interface Framed {
  readonly framing: Framing;
  readonly frame: Frame;
}

/** Reads the payload of a frame. If it is certain that its schema does not exist, returns the error that says so. */
export function readUnlessUnknown(side: SideTools, message: SideMessage, framed: Framed): SideResult | DecodeError {
  const { framing, frame } = framed;
  const { otherSchemaId } = frame;
  const read =
    otherSchemaId === undefined
      ? attempt(side, message, framed)
      : readByEither(side, message, [framed, { framing, frame: { ...frame, schemaId: otherSchemaId } }]);
  if (isDecodeError(read) && !isCertainlyUnknown(read)) {
    throw read;
  }
  return read;
}

/**
 * Reads a payload by the likelier one of two ids, unless only the other one can be right. The message was written with one of the two: if the
 * one does not exist or does not fit, it is the other that fits. Two schemas may have the same fields, so that both fit: then it is the one that
 * Debezium named after this topic.
 */
function readByEither(side: SideTools, message: SideMessage, [likely, other]: readonly [Framed, Framed]): SideResult | DecodeError {
  const first = attempt(side, message, likely);
  const failed = isDecodeError(first);
  if (failed ? !isWrongId(first) : first.pending !== null || first.route.namespaceToCheck === null) {
    return first;
  }
  const second = attemptAgain(side, message, other);
  if (isDecodeError(second)) {
    if (!isWrongId(second)) {
      return second; // nobody knows yet which of the two it is
    }
    if (failed) {
      return first;
    }
  } else if (failed || second.pending !== null || isNamedAfterTopic(second)) {
    return second;
  }
  return attemptAgain(side, message, likely);
}

/** All attempts fill in the same result. */
function attemptAgain(side: SideTools, message: SideMessage, framed: Framed): SideResult | DecodeError {
  side.result.begin();
  return attempt(side, message, framed);
}

function attempt({ frames }: SideTools, message: SideMessage, { framing, frame }: Framed): SideResult | DecodeError {
  try {
    return frames.read(framing, frame, message.failed);
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error;
  }
}

function isNamedAfterTopic({ route }: SideResult): boolean {
  return route.namespaceToCheck === null && debeziumNamespace(route.typeName) !== null;
}

/** Whether the id led to no schema, or to one that the payload does not fit. An outage, or a refusal, says nothing of the id. */
function isWrongId(error: DecodeError): boolean {
  return error.code === "schema-not-found" ? isCertainlyUnknown(error) : !ofSource.has(error.code);
}

const ofSource: ReadonlySet<DecodeErrorCode> = new Set(["schema-source-missing", "schema-unavailable", "schema-refused"]);

/**
 * Whether it is certain that the schema does not exist: the source has said so, or there is no source. An outage, or a missing reference,
 * is not certain.
 */
function isCertainlyUnknown(error: DecodeError): boolean {
  if (error.code !== "schema-not-found" && error.code !== "schema-source-missing") {
    return false;
  }
  const { cause } = error;
  return !(typeof cause === "object" && cause !== null && "isCertain" in cause && cause.isCertain === false);
}
