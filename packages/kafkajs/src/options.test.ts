import { Kafka, logLevel } from "kafkajs";
import { describe, expect, test } from "vitest";
import { kafkajs } from "./kafkajs.ts";
import { type KafkaJsOptions, resolveKafkaJsOptions } from "./options.ts";

const kafka = new Kafka({ brokers: ["localhost:9092"], logLevel: logLevel.NOTHING });

describe("options of the kafkajs driver", () => {
  test("what is left out gets its default", () => {
    expect(resolveKafkaJsOptions({ brokers: ["b:9092"] }).tuning).toMatchObject({ sessionTimeoutMs: 30_000, maxWaitMs: 500 });
  });

  test("connection options reach kafkajs as they are, tuning does not", () => {
    const resolved = resolveKafkaJsOptions({ brokers: ["b:9092"], clientId: "me", ssl: true, maxWaitMs: 7 });
    expect(resolved.client).toEqual({ kind: "made", config: { brokers: ["b:9092"], clientId: "me", ssl: true } });
    expect(resolved.tuning.maxWaitMs).toBe(7);
  });

  test("a client of one's own is used as it is", () => {
    expect(resolveKafkaJsOptions({ kafka }).client).toEqual({ kind: "own", kafka });
  });

  test.each<[string, unknown, string]>([
    ["no brokers", {}, "brokers"],
    ["an empty list", { brokers: [] }, "brokers"],
    ["one text instead of a list", { brokers: "b:9092" }, "brokers"],
    ["a time of no length", { brokers: ["b:9092"], maxWaitMs: 0 }, "maxWaitMs"],
    ["beats rarer than the session", { brokers: ["b:9092"], heartbeatIntervalMs: 9, sessionTimeoutMs: 9 }, "heartbeatIntervalMs"],
    ["a client and connection options", { kafka, clientId: "me" }, "clientId"],
    ["a client that is none", { kafka: {} }, "instance of kafkajs' Kafka"],
  ])("%s is refused with what was expected", (_name, options, part) => {
    expect(() => kafkajs(options as KafkaJsOptions)).toThrow(part);
  });

  test("nothing is connected before it is asked for", () => {
    expect(kafkajs({ brokers: ["127.0.0.1:1"] })).toMatchObject({ name: "kafkajs", capabilities: { crc: false, cooperative: false } });
  });
});
