import { createDecoder } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { createConsumer } from "./consumer.ts";
import type { KafkaDriver } from "./driver.ts";
import { isConsumerError } from "./errors.ts";
import { type ConsumerOptions, resolveConsumerOptions } from "./options.ts";

const driver = { name: "none", connect: () => Promise.reject(new Error("not called")) } as unknown as KafkaDriver; // never connected
const tracing = Object.fromEntries(["getTracer", "getSpan", "getSpanContext", "setSpan", "deleteSpan"].map((name) => [name, () => {}]));
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
  test("options that are left out get their defaults", () => {
    expect(resolveConsumerOptions(valid)).toMatchObject({
      from: "earliest",
      delivery: { order: "key", concurrency: 1, batch: null, maxInFlight: null, maxInFlightBytes: 67_108_864, commitIntervalMs: 1_000 },
      failure: { retry: { attempts: 5 }, poison: "halt", breaker: { maxShare: 0.01, maxInARow: 100 }, unknownSchemaGraceMs: 60_000 },
      signals: ["SIGTERM", "SIGINT"],
      shutdownTimeoutMs: 10_000,
    });
    expect(resolveConsumerOptions({ ...valid, signals: false }).signals).toEqual([]);
  });

  test("validation without a validator fails at construction, and says what to install", () => {
    expect(() => createConsumer({ ...valid, decoder: { validation: "on" } })).toThrow("npm install @cdckit/json-schema");
    expect(() => createConsumer({ ...valid, decoder: { validation: "off" } })).not.toThrow();
  });

  test.each([
    ["groupId", { groupId: "" }],
    ["topics", { topics: [] }],
    ["topics", { topics: "orders" }],
    ["driver", { driver: {} }],
    ["from", { from: "yesterday" }],
    ["shutdownTimeoutMs", { shutdownTimeoutMs: 0 }],
    ["delivery.maxInFlightBytes", { delivery: { maxInFlightBytes: -1 } }],
    ["delivery.order", { delivery: { order: "table" } }],
    ["failure.poison", { failure: { poison: "ignore" } }],
    ["failure.retry.attempts", { failure: { retry: { attempts: 0 } } }],
    ["failure.retry.initialDelayMs", { failure: { retry: { initialDelayMs: 20_000 } } }],
    ["failure.breaker.maxShare", { failure: { poison: "dead-letter", deadLetterTopic: "d", breaker: { maxShare: 2 } } }],
    ["failure.skip[0].partition", { failure: { skip: [{ topic: "t", partition: 2 ** 31, offset: 1n }] } }],
    ["from", { from: { offsets: { t: { [2 ** 31]: 1n } } } }],
    ["from.offsets.t[0] must be an offset from 0 to 2^63-1", { from: { offsets: { t: { 0: 2n ** 63n } } } }],
    ["failure.skip[0].offset", { failure: { skip: [{ topic: "t", partition: 0, offset: "9223372036854775808" }] } }],
    ["from.timestamp", { from: { timestamp: 2n ** 63n } }],
    ["from.timestamp", { from: { timestamp: 1e20 } }],
    ["from.timestamp", { from: { timestamp: Number.NaN } }],
    ["random", { random: 0.5 }],
    ["failure.isRetriable", { failure: { isRetriable: true } }],
    ["logger must be pino, an object with the methods debug, info, warn and error, or false, got a boolean", { logger: true }],
    ["got an object without debug, error", { logger: { info: () => {}, warn: () => {} } }],
    ["telemetry.prometheus must be a registry of prom-client", { telemetry: { prometheus: { Registry: class {} } } }],
    ["telemetry.opentelemetry.trace must be of the whole module", { telemetry: { opentelemetry: { metrics: {} } } }],
    [
      "telemetry.opentelemetry.context must be of the whole module",
      { telemetry: { opentelemetry: { trace: tracing, metrics: { getMeter: () => {} } } } },
    ],
    ["failure.deadLetterTopic", { failure: { poison: "dead-letter" } }],
    ["failure.deadLetterTopic", { failure: { deadLetterTopic: "t.dead" } }],
    ["failure.deadLetterTopic", { failure: { poison: "park-key", deadLetterTopic: "t" } }],
    ["failure.deadLetterTopic", { topics: [/^t/], failure: { poison: "dead-letter", deadLetterTopic: "t.dead" } }],
    ["failure.maxParkedKeys", { failure: { maxParkedKeys: 5 } }],
    ["parks no key", { failure: { poison: "dead-letter", deadLetterTopic: "d", maxParkedKeys: 5 } }],
    ["groupid", { groupid: "typo" }],
    ["decoder.vaules", { decoder: { vaules: {} } }],
    ["registry", { decoder: { schemas: {} } }],
    ["decoder", { decoder: "json" }],
    ["decoder.selectColumns", { decoder: { selectColumns: () => null } }],
    ["decoder.onSchema", { decoder: { onSchema: "log" } }],
    ["registry", { decoder: createDecoder(), registry: { url: "http://127.0.0.1:1" } }],
    ["delivery.maxinflight", { delivery: { maxinflight: 1 } }],
    ["signals", { signals: "SIGTERM" }],
    ["signals", { signals: true }],
    ["signals", { signals: ["SIGTREM"] }],
    ["signals", { signals: ["SIGTERM", "SIGKILL"] }],
    ["signals", { signals: ["SIGSTOP"] }],
  ])("a wrong %s is named", (path, change) => {
    const { code, message } = failureOf(change);
    expect(code).toBe("invalid-option");
    expect(message).toContain(path);
  });

  test.each<[string, (ms: number) => Record<string, unknown>]>([
    ["shutdownTimeoutMs", (ms) => ({ shutdownTimeoutMs: ms })],
    ["delivery.commitIntervalMs", (ms) => ({ delivery: { commitIntervalMs: ms } })],
    ["delivery.batch.maxMs", (ms) => ({ delivery: { batch: { maxMs: ms } } })],
    ["health.lagIntervalMs", (ms) => ({ health: { lagIntervalMs: ms } })],
    ["failure.retry.initialDelayMs", (ms) => ({ failure: { retry: { initialDelayMs: ms, maxDelayMs: 2 ** 31 - 1 } } })],
    ["failure.retry.maxDelayMs", (ms) => ({ failure: { retry: { maxDelayMs: ms } } })],
  ])("%s is refused if Node's timers cannot wait for so long, because they would fire at once", (path, change) => {
    expect(failureOf(change(2 ** 31)).message).toContain(`${path} must be milliseconds from`);
    expect(failureOf(change(2 ** 31)).message).toContain("to 2147483647 (24 days, the longest delay of a timer), got 2147483648");
    expect(failureOf(change(2 ** 31 - 1)).code).toBe("none");
  });

  test("an option that is undefined gets its default, also among those of retries and of the breaker", () => {
    const failure = { retry: { attempts: undefined, maxDelayMs: 7_000 }, breaker: { maxShare: undefined, maxInARow: 5 } };
    const options = { ...valid, failure: { ...failure, poison: "dead-letter", deadLetterTopic: "d" } };
    expect(resolveConsumerOptions(options as never).failure).toMatchObject({
      retry: { attempts: 5, maxDelayMs: 7_000 },
      breaker: { maxShare: 0.01, maxInARow: 5 },
    });
  });

  test.each([
    [[], "got []"],
    ["orders", 'got "orders"'],
    [["orders", ""], 'got ["orders", ""]'],
  ])("topics that are %j are refused as what they are, and a list is asked for", (topics, found) => {
    const { message } = failureOf({ topics });
    expect(message).toContain(`topics must be a list of at least one topic name or regular expression, ${found}`);
  });

  test("a signal that is named twice is one", () => {
    expect(resolveConsumerOptions({ ...valid, signals: ["SIGTERM", "SIGTERM"] }).signals).toEqual(["SIGTERM"]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["telemetry", { telemetry: { otel: {} } }, "telemetry.otel is no option"],
    ["health", { health: { stuckAfter: 1 } }, "health.stuckAfter is no option"],
    [
      "an old clock",
      { clock: Object.fromEntries([["breathe", () => Promise.resolve()]]) },
      "clock.yieldToEventLoop must be a function (it was called breathe before)",
    ],
    ["how long is stuck", { health: { stuckAfterMs: 0 } }, "health.stuckAfterMs must be a positive integer"],
  ])("%s is checked", (_name, options, text) => {
    expect(failureOf(options).message).toContain(text);
  });

  test.each<[string, unknown, RegExp]>([
    [
      "an address alone",
      "http://u:secret@localhost:8081",
      /^\[invalid-option\] registry must be .*\{ url: .*got a string: set registry\.url/,
    ],
    ["null", null, /^\[invalid-option\] registry must be .*got null/],
    ["an address without its scheme", { url: "localhost:8081" }, /^\[invalid-option\] registry\.url must begin with http:\/\//],
    ["a misspelt name", { uri: "http://localhost:8081" }, /^\[invalid-option\] registry\.uri is no option; the options are url, urls, /],
    ["a bad time", { url: "http://localhost:8081", timeoutMs: 0 }, /^\[invalid-option\] registry\.timeoutMs must be/],
  ])("a registry that is %s is refused by its name", (_what, registry, message) => {
    const create = (): unknown => createConsumer({ ...valid, registry: registry as ConsumerOptions["registry"] & object });
    expect(create).toThrow(message);
    expect(create).not.toThrow("secret");
    try {
      create();
    } catch (error) {
      expect(isConsumerError(error)).toBe(true);
      expect((error as Error).cause instanceof Error).toBe(typeof registry === "object" && registry !== null);
    }
  });
});
