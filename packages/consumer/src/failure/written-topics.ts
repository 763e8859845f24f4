import type { WrittenTopic } from "../driver.ts";
import type { ResolvedFailureOptions } from "./failure-options.ts";

/** The topics that failures are written to. */
export function writtenTopics({ deadLetterTopic, createDeadLetterTopic }: ResolvedFailureOptions): readonly WrittenTopic[] {
  return deadLetterTopic === null ? [] : [{ topic: deadLetterTopic, option: "failure.deadLetterTopic", create: createDeadLetterTopic }];
}
