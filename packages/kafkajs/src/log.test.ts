import type { Logger } from "@cdckit/consumer";
import { expect, test } from "vitest";
import { toLogger } from "./log.ts";

function setUp() {
  const lines: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  const log = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields });
  const logger: Logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  let nowMs = 0;
  const write = toLogger(logger, () => nowMs)(4);
  const error = (message: string, fields: object = {}): void =>
    write({ namespace: "Connection", level: 1, label: "ERROR", log: { message, timestamp: "", ...fields } as never });
  return { lines, error, at: (ms: number) => (nowMs = ms) };
}

test("an error of kafkajs' is a warning, with the broker and what was wrong", () => {
  const { lines, error } = setUp();
  error("Connection error: connect ECONNREFUSED 127.0.0.1:9092", { broker: "127.0.0.1:9092" });
  expect(lines).toEqual([
    {
      level: "warn",
      message: "kafkajs: Connection error: connect ECONNREFUSED 127.0.0.1:9092",
      fields: { broker: "127.0.0.1:9092", namespace: "Connection" },
    },
  ]);
});

test("an error that kafkajs logs in place of a text is written by its message, and does not end kafkajs' consumer", () => {
  const { lines, error } = setUp();
  error(new Error("SASL SCRAM SHA512 authentication failed") as unknown as string);
  expect(lines).toMatchObject([{ level: "warn", message: "kafkajs: SASL SCRAM SHA512 authentication failed" }]);
});

test.each([
  ["Response Heartbeat(key: 12, version: 3)", { error: "The group is rebalancing, so a rejoin is needed" }],
  ["Limiting retries for the idempotent producer may invalidate EoS guarantees", {}],
  [
    "Failed to send messages: The producer attempted to update a transaction while another concurrent operation on the same transaction was ongoing",
    {},
  ],
  ["[send-failed] a leader has moved: the partitions are written one by one", {}],
  ["Connection error: the driver was closed", {}],
  ["Crash: KafkaJSNonRetriableError: the driver was closed", {}],
  ["Crash: KafkaJSNonRetriableError: Failed to connect: brokers array is empty", {}],
])("what belongs to normal work is no warning: %s", (message, fields) => {
  const { lines, error } = setUp();
  error(message, fields);
  expect(lines).toMatchObject([{ level: "debug" }]);
});

test("kafkajs does not say that it resets what the driver does not let it reset", () => {
  const { lines, error } = setUp();
  error("Offset out of range, resetting to default offset", { topic: "t", partition: 0 });
  expect(lines).toMatchObject([{ level: "warn", message: "kafkajs: Offset out of range", fields: { topic: "t", partition: 0 } }]);
});

test("a line that comes again and again is a warning with growing gaps", () => {
  const { lines, error, at } = setUp();
  for (let second = 0; second <= 200; second++) {
    at(second * 1_000);
    error("Connection error: connect ECONNREFUSED 127.0.0.1:9092", { broker: "127.0.0.1:9092" });
  }
  const warnings = lines.filter(({ level }) => level === "warn");
  expect(warnings.map(({ fields }) => (fields as { leftOut?: number }).leftOut ?? 0)).toEqual([0, 4, 9, 19, 39, 59, 59]);
});
