import { type DecodeError, isDecodeError } from "@cdckit/decode";
import { isKafkaJsDriverError, type KafkaJsDriverErrorCode } from "@cdckit/kafkajs";
import { isRecordingError } from "@cdckit/testkit";
import { BenchError } from "../bench-error.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { isRegistryAtFault } from "../registry-fault.ts";
import type { Terminal } from "../terminal.ts";

/** Says on stderr, in a sentence, why a command failed, and gives the exit code for it. A stack trace is shown only on request. */
export function explainFailure(error: unknown, terminal: Terminal, isDebug: boolean): ExitCode {
  const { sentence, code } = verdictOf(error);
  terminal.stderr.write(`cdc-bench: ${sentence}\n`);
  if (isDebug && error instanceof Error) {
    terminal.stderr.write(`${error.stack ?? error.message}\n`);
    for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
      terminal.stderr.write(`caused by ${cause.stack ?? cause.message}\n`);
    }
  }
  return code;
}

interface Verdict {
  readonly sentence: string;
  readonly code: ExitCode;
}

function verdictOf(error: unknown): Verdict {
  if (error instanceof BenchError) {
    return { sentence: error.detail, code: error.exitCode };
  }
  if (isRecordingError(error)) {
    return { sentence: `${error.detail}.`, code: exitCodes.usage };
  }
  if (isDecodeError(error)) {
    return { sentence: sentenceOf(error), code: isRegistryAtFault(error) ? exitCodes.connection : exitCodes.decodeErrors };
  }
  if (isKafkaJsDriverError(error)) {
    return { sentence: `${withoutCode(error.message)}.`, code: exitCodeOfDriver[error.code] };
  }
  const said = error instanceof Error ? error.message : String(error);
  return { sentence: `unexpected: ${said} (--debug shows where)`, code: exitCodes.unexpected };
}

const exitCodeOfDriver: Readonly<Record<KafkaJsDriverErrorCode, ExitCode>> = {
  "invalid-option": exitCodes.usage,
  "kafkajs-missing": exitCodes.unexpected,
  "brokers-unreachable": exitCodes.connection,
  "protocol-mismatch": exitCodes.connection,
  "authentication-failed": exitCodes.connection,
  "not-authorized": exitCodes.connection,
  "topic-missing": exitCodes.tooFewMessages,
  "subscriptions-differ": exitCodes.unexpected,
  "offset-out-of-range": exitCodes.unexpected,
  "topic-recreated": exitCodes.unexpected,
  "send-failed": exitCodes.connection,
  "transaction-failed": exitCodes.unexpected,
  fenced: exitCodes.unexpected,
  "batch-unreadable": exitCodes.decodeErrors,
  "client-crashed": exitCodes.unexpected,
};

function sentenceOf({ at, detail }: DecodeError): string {
  return `${at === undefined ? "" : `${at.topic}[${at.partition}]@${at.offset}: `}${detail}.`;
}

function withoutCode(message: string): string {
  return message.replace(/^\[[a-z-]+\] /, "").replace(/\.$/, "");
}
