import type { KafkaJsDriverErrorCode } from "@cdckit/kafkajs";
import { exitCodes, type ExitCode } from "./exit-codes.ts";

/** What the process ends with if the driver gives up, by the code of its error. */
export const exitCodeOfDriver: Readonly<Record<KafkaJsDriverErrorCode, ExitCode>> = {
  "invalid-option": exitCodes.usage,
  "kafkajs-missing": exitCodes.unexpected,
  "brokers-unreachable": exitCodes.connection,
  "protocol-mismatch": exitCodes.connection,
  "authentication-failed": exitCodes.connection,
  "not-authorized": exitCodes.connection,
  "topic-missing": exitCodes.tooFewMessages,
  "partition-unavailable": exitCodes.connection,
  "subscriptions-differ": exitCodes.unexpected,
  "offset-out-of-range": exitCodes.unexpected,
  "topic-recreated": exitCodes.unexpected,
  "send-failed": exitCodes.connection,
  "transaction-failed": exitCodes.unexpected,
  fenced: exitCodes.unexpected,
  "batch-unreadable": exitCodes.decodeErrors,
  "client-crashed": exitCodes.unexpected,
};
