import { type CdcEvent, DecodeError, type KafkaRecord } from "@cdckit/decode";
import { RecordArrayBatch, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { deadLetterOf, redriveOf } from "./dead-letter-origin.ts";
import { deadLetterRecord } from "./dead-letter-record.ts";
import type { Failure } from "./failure.ts";
import type { RecordPlace } from "./record-place.ts";

const record: KafkaRecord = recordOf(Buffer.from([0, 0, 0, 1, 44, 255, 254]), {
  topic: "orders",
  partition: 3,
  offset: 9_007_199_254_740_993n,
  timestamp: 1_700_000_000_123n,
  key: Buffer.from([0, 0, 0, 0, 7, 2]),
  headers: [
    ["trace", Buffer.from("abc")],
    ["empty", null],
  ],
});
const place: RecordPlace = placeOf(record);
const context = { topic: "orders.dead", groupId: "billing", nowMs: 1_700_000_009_999 };

function placeOf(only: KafkaRecord): RecordPlace {
  const assignment = { topic: only.topic, partition: only.partition, epoch: 1 };
  const batch = new RecordArrayBatch({ assignment, records: [only], highWatermark: only.offset + 1n });
  return { assignment, batch, record: 0, ordinal: 1 };
}

function textsOf(headers: KafkaRecord["headers"]): Record<string, string | undefined> {
  return Object.fromEntries(headers.map(([name, value]) => [name, value === null ? undefined : Buffer.from(value).toString()]));
}

function failureWith(error: unknown, stage: Failure["stage"] = "handle", event: CdcEvent | null = null): Failure {
  return { stage, error, place, event, sink: null, through: null };
}

describe("a dead letter", () => {
  test("has the record's own bytes and headers, a timestamp of its own, and the names that Kafka Connect writes", () => {
    const failure = failureWith(new DecodeError("malformed", "an unknown branch of a union"), "decode");
    const letter = deadLetterRecord(place, { kind: "failed", failure, attempts: 1 }, context);
    expect(letter).toMatchObject({ topic: "orders.dead", key: record.key, value: record.value, timestamp: 1_700_000_009_999n });
    expect(letter.partition).toBeUndefined();
    expect(letter.headers.slice(0, 2)).toEqual(record.headers);
    expect(textsOf(letter.headers.slice(2))).toEqual({
      "__connect.errors.topic": "orders",
      "__connect.errors.partition": "3",
      "__connect.errors.offset": "9007199254740993",
      "__connect.errors.connector.name": "billing",
      "__connect.errors.task.id": "3",
      "__connect.errors.stage": "VALUE_CONVERTER",
      "__connect.errors.class.name": "@cdckit/decode",
      "__connect.errors.exception.class.name": "DecodeError",
      "__connect.errors.exception.message": "[malformed] orders[3]@9007199254740993: an unknown branch of a union",
      "__connect.errors.exception.stacktrace": expect.stringMatching(/^\s+at /),
      "cdckit.attempts": "1",
      "cdckit.group": "billing",
      "cdckit.timestamp": "1700000009999",
      "cdckit.record.timestamp": "1700000000123",
      "cdckit.schema.id": "300",
    });
  });

  test("has the name and code of what a handler threw, and not its message, which may quote the row", () => {
    const error = Object.assign(new RangeError('invalid input: "4111 1111 1111 1111"'), { code: "22P02" });
    const event = { schemaId: 41 } as unknown as CdcEvent; // what is read of it
    const letter = deadLetterRecord(place, { kind: "failed", failure: failureWith(error, "handle", event), attempts: 5 }, context);
    const texts = textsOf(letter.headers);
    expect(JSON.stringify(texts)).not.toContain("4111");
    expect(texts).toMatchObject({
      "__connect.errors.stage": "TASK_PUT",
      "__connect.errors.exception.class.name": "RangeError",
      "__connect.errors.exception.message":
        "[handler-failed] a handler failed at orders[3]@9007199254740993; the record became a dead letter: RangeError (code 22P02)",
      "cdckit.attempts": "5",
      "cdckit.schema.id": "41",
    });
  });

  test.each<[string, Partial<Failure>]>([
    ["a handler", {}],
    ["a sink", { sink: "tables" }],
    ["a decoder of the application's", { stage: "decode" }],
  ])("says of %s what is true of a dead letter: it is committed, and has no cause to look at", (_, failed) => {
    const failure = { ...failureWith(new TypeError("no")), ...failed };
    const text = deadLetterOf(deadLetterRecord(place, { kind: "failed", failure, attempts: 1 }, context))?.exception.message;
    expect(text).toMatch(/; the record became a dead letter: TypeError$/);
    expect(text).not.toMatch(/the cause|committed/);
  });

  test("can be read back, and written to its topic as it was", () => {
    const failure = failureWith(new Error("no"));
    const { headers } = deadLetterRecord(place, { kind: "failed", failure, attempts: 2 }, context);
    const dead: KafkaRecord = { ...record, topic: "orders.dead", partition: 0, offset: 5n, timestamp: 1_700_000_009_999n, headers };
    expect(deadLetterOf(dead)).toMatchObject({
      writer: "cdckit",
      topic: "orders",
      partition: 3,
      offset: record.offset,
      timestamp: record.timestamp,
      groupId: "billing",
      stage: "TASK_PUT",
      exception: { name: "Error" },
      attempts: 2,
      parkedBehind: null,
    });
    const { offset: _, ...asItWas } = record;
    expect(redriveOf(dead)).toEqual(asItWas);
  });

  test("of a parked record names the earlier dead letter", () => {
    const { headers } = deadLetterRecord(place, { kind: "parked", behind: 17n }, context);
    expect(deadLetterOf({ headers })).toMatchObject({ parkedBehind: 17n, attempts: 0 });
  });

  test("of a dead letter that failed itself has the later failure alone, and is written back as the letter that it was", () => {
    const first = deadLetterRecord(place, { kind: "parked", behind: 17n }, context);
    const letter: KafkaRecord = { ...record, topic: "orders.dead", partition: 0, offset: 1n, headers: first.headers };
    const failure = failureWith(new Error("b"));
    const { headers } = deadLetterRecord(placeOf(letter), { kind: "failed", failure, attempts: 4 }, { ...context, groupId: "repair" });
    expect(deadLetterOf({ headers })).toMatchObject({ topic: "orders.dead", attempts: 4, groupId: "repair", parkedBehind: null });
    const { offset: _, ...asItWas } = letter;
    expect(redriveOf({ ...letter, topic: "repair.dead", headers })).toEqual(asItWas);
  });

  test("of ours that Kafka Connect could not read has what Connect says, and its own timestamp", () => {
    const { headers } = deadLetterRecord(place, { kind: "failed", failure: failureWith(new Error("no")), attempts: 2 }, context);
    const connect: KafkaRecord["headers"] = [
      ["__connect.errors.topic", Buffer.from("orders.dead")],
      ["__connect.errors.connector.name", Buffer.from("jdbc-sink")],
    ];
    const dead: KafkaRecord = { ...record, topic: "connect.dead", timestamp: 1_700_000_009_999n, headers: [...headers, ...connect] };
    expect(deadLetterOf(dead)).toMatchObject({
      writer: "connect",
      topic: "orders.dead",
      groupId: "jdbc-sink",
      attempts: null,
      timestamp: null,
    });
    expect(redriveOf(dead)).toMatchObject({ topic: "orders.dead", timestamp: 1_700_000_009_999n, headers });
  });

  test("of Kafka Connect is read, and what Connect leaves out is null", () => {
    const headers = Object.entries({
      "__connect.errors.topic": "inventory.orders",
      "__connect.errors.partition": "2",
      "__connect.errors.offset": "1234",
      "__connect.errors.connector.name": "jdbc-sink",
      "__connect.errors.task.id": "0",
      "__connect.errors.stage": "KEY_CONVERTER",
      "__connect.errors.class.name": "io.confluent.connect.avro.AvroConverter",
      "__connect.errors.exception.class.name": "org.apache.kafka.connect.errors.DataException",
      "__connect.errors.exception.message": "Failed to deserialize",
      "__connect.errors.exception.stacktrace": "org.apache...",
    }).map(([name, text]) => [name, Buffer.from(text)] as const);
    expect(deadLetterOf({ headers })).toMatchObject({
      writer: "connect",
      topic: "inventory.orders",
      partition: 2,
      offset: 1234n,
      groupId: "jdbc-sink",
      stage: "KEY_CONVERTER",
      exception: { name: "org.apache.kafka.connect.errors.DataException", message: "Failed to deserialize" },
      attempts: null,
      timestamp: null,
    });
    expect(redriveOf({ ...record, headers })).toMatchObject({ timestamp: record.timestamp });
  });

  test("of Spring Kafka is read: its numbers are big-endian integers", () => {
    const headers: KafkaRecord["headers"] = [
      ["kafka_dlt-original-topic", Buffer.from("orders")],
      ["kafka_dlt-original-partition", Buffer.from([0, 0, 0, 12])],
      ["kafka_dlt-original-offset", Buffer.from([0, 0, 0, 1, 0, 0, 0, 2])],
      ["kafka_dlt-original-timestamp", Buffer.from([0, 0, 1, 0x8b, 0xcf, 0xe5, 0x68, 0x7b])],
      ["kafka_dlt-original-consumer-group", Buffer.from("billing")],
      ["kafka_dlt-exception-fqcn", Buffer.from("org.springframework.kafka.listener.ListenerExecutionFailedException")],
      ["kafka_dlt-exception-message", Buffer.from("Listener failed")],
    ];
    expect(deadLetterOf({ headers })).toMatchObject({
      writer: "spring",
      topic: "orders",
      partition: 12,
      offset: 4_294_967_298n,
      timestamp: 1_700_000_000_123n,
      groupId: "billing",
      exception: { message: "Listener failed" },
    });
  });

  test("with a number that Kafka cannot have says null there, and is written back without it", () => {
    const connect = Object.entries({
      "__connect.errors.topic": "orders",
      "__connect.errors.partition": "-1",
      "__connect.errors.offset": "9223372036854775808",
      "cdckit.record.timestamp": "9999999999999999999",
    }).map(([name, text]) => [name, Buffer.from(text)] as const);
    expect(deadLetterOf({ headers: connect })).toMatchObject({ partition: null, offset: null, timestamp: null });
    expect(redriveOf({ ...record, headers: connect })).toMatchObject({ timestamp: record.timestamp });
    const spring: KafkaRecord["headers"] = [
      ["kafka_dlt-original-topic", Buffer.from("orders")],
      ["kafka_dlt-original-partition", Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ];
    expect(deadLetterOf({ headers: spring })).toMatchObject({ partition: null });
    expect(redriveOf({ ...record, headers: spring })).not.toHaveProperty("partition");
  });

  test("is not found in any other record, whatever its headers hold", () => {
    expect(deadLetterOf(record)).toBeNull();
    expect(redriveOf(record)).toBeNull();
    expect(deadLetterOf({ headers: [["__connect.errors.topic", null]] })).toBeNull();
    const odd: KafkaRecord["headers"] = [
      ["__connect.errors.topic", Buffer.from("t")],
      ["__connect.errors.offset", Buffer.from("twelve")],
    ];
    expect(deadLetterOf({ headers: odd })).toMatchObject({ topic: "t", offset: null });
  });
});
