import { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from "kafkajs";
import { expect, test } from "vitest";
import { isPassing, untilAnswered } from "./passing-answers.ts";

function refused(type: string): Error {
  return Object.assign(new Error(`kafkajs' words for ${type}`), { type });
}

test.each(["NOT_COORDINATOR_FOR_GROUP", "GROUP_LOAD_IN_PROGRESS", "NOT_LEADER_FOR_PARTITION"])("%s is asked again", async (type) => {
  const answers = [refused(type), refused(type), null];
  const answer = await untilAnswered(async () => {
    const next = answers.shift();
    if (next instanceof Error) {
      throw next;
    }
    return "answered";
  });
  expect(answer).toBe("answered");
  expect(answers).toEqual([]);
});

test("a coordinator that nobody named is asked for again, whatever type kafkajs gives that", () => {
  const error = new Error("Failed to find group coordinator");
  expect(isPassing(error)).toBe(false);
  error.name = "KafkaJSGroupCoordinatorNotFound";
  expect(isPassing(error)).toBe(true);
});

test("an answer that kafkajs got at each of its own attempts is asked for again", () => {
  const unknown = new KafkaJSProtocolError(Object.assign(refused("UNKNOWN_TOPIC_OR_PARTITION"), { code: 3, retriable: true }));
  const wrapped = new KafkaJSNumberOfRetriesExceeded(unknown, { retryCount: 1, retryTime: 100 });
  expect((wrapped as { readonly type?: unknown }).type).toBeUndefined();
  expect(isPassing(wrapped)).toBe(true);
  const final = new KafkaJSProtocolError(Object.assign(refused("TOPIC_AUTHORIZATION_FAILED"), { code: 29, retriable: false }));
  expect(isPassing(new KafkaJSNumberOfRetriesExceeded(final, { retryCount: 1, retryTime: 100 }))).toBe(false);
});

test("any other answer is final", async () => {
  let asked = 0;
  const answered = untilAnswered(async () => {
    asked++;
    throw refused("GROUP_AUTHORIZATION_FAILED");
  });
  await expect(answered).rejects.toMatchObject({ type: "GROUP_AUTHORIZATION_FAILED" });
  expect(asked).toBe(1);
});
