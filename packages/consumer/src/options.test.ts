import { describe, expect, test } from "vitest";
import type { KafkaDriver } from "./driver.ts";
import { isConsumerError } from "./errors.ts";
import { type ConsumerOptions, resolveConsumerOptions } from "./options.ts";

const driver = { name: "none", connect: () => Promise.reject(new Error("not called")) } as unknown as KafkaDriver; // never connected
const valid: ConsumerOptions = { driver, groupId: "g", topics: ["t"] };

function failureOf(change: Record<string, unknown>): { code: string; message: string } {
  try {
    resolveConsumerOptions({ ...valid, ...change } as ConsumerOptions);
  } catch (error) {
    if (isConsumerError(error)) {
      return { code: error.code, message: error.message };
    }
    throw error;
  }
  return { code: "none", message: "" };
}

describe("consumer options", () => {
  test("what is left out gets its default", () => {
    expect(resolveConsumerOptions(valid)).toMatchObject({
      from: "earliest",
      maxInFlightBytes: 67_108_864,
      commitIntervalMs: 1_000,
      signals: ["SIGTERM", "SIGINT"],
      shutdownTimeoutMs: 10_000,
    });
    expect(resolveConsumerOptions({ ...valid, signals: false }).signals).toEqual([]);
  });

  test.each([
    ["groupId", { groupId: "" }],
    ["topics", { topics: [] }],
    ["topics", { topics: "orders" }],
    ["driver", { driver: {} }],
    ["from", { from: "yesterday" }],
    ["shutdownTimeoutMs", { shutdownTimeoutMs: 0 }],
    ["delivery.maxInFlightBytes", { delivery: { maxInFlightBytes: -1 } }],
    ["delivery.order", { delivery: { order: "none" } }],
    ["failure.poison", { failure: { poison: "ignore" } }],
    ["groupid", { groupid: "typo" }],
    ["delivery.maxinflight", { delivery: { maxinflight: 1 } }],
  ])("a wrong %s is named", (path, change) => {
    const { code, message } = failureOf(change);
    expect(code).toBe("invalid-option");
    expect(message).toContain(path);
  });

  test.each([
    ["delivery.concurrency", { delivery: { concurrency: 16 } }],
    ["delivery.batch", { delivery: { batch: { maxEvents: 100 } } }],
    ["failure.retry", { failure: { retry: { attempts: 3 } } }],
    ["failure.poison", { failure: { poison: "dead-letter" } }],
    ["failure.poison", { failure: { poison: "park-key" } }],
    ["failure.deadLetterTopic", { failure: { deadLetterTopic: "dlt" } }],
    ["telemetry", { telemetry: {} }],
  ])("%s of the contract is refused as long as it is not built, and not ignored", (path, change) => {
    const { code, message } = failureOf(change);
    expect(code).toBe("unsupported-option");
    expect(message).toContain(path);
  });
});
