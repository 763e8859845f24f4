import { type DecodeError, isDecodeError } from "@cdckit/decode";
import { isKafkaJsDriverError } from "@cdckit/kafkajs";
import { isRegistryError } from "@cdckit/registry";
import { isRecordingError } from "@cdckit/testkit";
import { sentenceOf } from "../bench-error.ts";
import { exitCodeOfDriver } from "../driver-exit-codes.ts";
import { exitCodes } from "../exit-codes.ts";
import { isRegistryAtFault } from "../registry-fault.ts";
import type { FailureVerdict } from "./failure.ts";

/** What an error of the packages that this program is made of means to its user. */
export function verdictOfPackages(error: unknown): FailureVerdict {
  if (isRecordingError(error)) {
    return { sentence: `${error.detail}.`, code: exitCodes.usage };
  }
  if (isDecodeError(error)) {
    return { sentence: placedSentence(error), code: isRegistryAtFault(error) ? exitCodes.connection : exitCodes.decodeErrors };
  }
  if (isRegistryError(error)) {
    // A subject that the registry does not have is like a topic without records: nothing is wrong with the connection.
    const code = error.code === "not-found" ? exitCodes.tooFewMessages : exitCodes.connection;
    return { sentence: sentenceOf(error.message), code };
  }
  if (isKafkaJsDriverError(error)) {
    return { sentence: sentenceOf(error.message), code: exitCodeOfDriver[error.code] };
  }
  const said = error instanceof Error ? error.message : String(error);
  return { sentence: `unexpected: ${said} (--debug shows where)`, code: exitCodes.unexpected };
}

function placedSentence({ at, detail }: DecodeError): string {
  const place = at === undefined ? "" : `${at.topic}[${at.partition}]@${at.offset}: `;
  return sentenceOf(detail.startsWith(place) ? detail : `${place}${detail}`); // the consumer has put it in front when it halted there
}
