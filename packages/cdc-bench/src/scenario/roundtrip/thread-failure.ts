import { isKafkaJsDriverError } from "@cdckit/kafkajs";
import { BenchError, sentenceOf } from "../../bench-error.ts";
import type { ThreadAnswer } from "./thread-protocol.ts";

/** An error as a thread can send it: what the user reads, without stack and cause. */
export function explainedFailure(error: unknown): Extract<ThreadAnswer, { readonly kind: "failed" }> {
  if (error instanceof BenchError) {
    return { kind: "failed", code: error.code, detail: error.detail };
  }
  if (isKafkaJsDriverError(error)) {
    return { kind: "failed", code: "connection", detail: sentenceOf(error.message) };
  }
  return { kind: "failed", code: "unexpected", detail: error instanceof Error ? error.message : String(error) };
}
