import type { KafkaRecord, RecordHeaders } from "@cdckit/decode";
import { isBase64 } from "./written-bytes.ts";

/** Kafka's own mark for a record without a timestamp. */
const noTimestamp = -1n;
const integerText = /^-?\d{1,19}$/;

/**
 * The record that one line of a recording holds: `{topic, partition, offset, timestamp?, headers?, key, value}`, bytes as base64 or null,
 * offset and timestamp as text or as a number. Throws a plain `Error` that says which field is wrong; its caller knows the file and line.
 * `lastTopic`: the record's topic is this very string if it has the same name, as in a driver's batches.
 */
export function parseRecordingLine(text: string, lastTopic: string = ""): KafkaRecord {
  const fields = parseObject(text);
  return {
    topic: topicOf(fields["topic"], lastTopic),
    partition: partitionOf(fields["partition"]),
    offset: integerOf("offset", fields["offset"]),
    timestamp: fields["timestamp"] === undefined ? noTimestamp : integerOf("timestamp", fields["timestamp"]),
    key: bytesOf("key", fields["key"]),
    value: bytesOf("value", fields["value"]),
    headers: headersOf(fields["headers"]),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message quotes the line, and with it the record.
    throw new Error("it is not JSON");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new Error("it is not a JSON object");
  }
  return parsed as Readonly<Record<string, unknown>>;
}

function topicOf(value: unknown, lastTopic: string): string {
  if (typeof value !== "string" || value === "") {
    throw new Error('"topic" must be a name');
  }
  return value === lastTopic ? lastTopic : value;
}

function partitionOf(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new Error('"partition" must be a number from 0');
  }
  return value as number;
}

function integerOf(name: string, value: unknown): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value)) {
    return BigInt(value);
  }
  if (typeof value === "string" && integerText.test(value)) {
    return BigInt(value);
  }
  throw new Error(`"${name}" must be an integer, as text or as a number below 2^53`);
}

function bytesOf(name: string, value: unknown): Buffer | null {
  if (value === null) {
    return null;
  }
  if (typeof value !== "string" || !isBase64(value)) {
    throw new Error(`"${name}" must be base64 text or null`);
  }
  return Buffer.from(value, "base64");
}

const noHeaders: RecordHeaders = Object.freeze([]);

function headersOf(value: unknown): RecordHeaders {
  if (value === undefined) {
    return noHeaders; // most records have none: one list for them all
  }
  if (!Array.isArray(value)) {
    throw new Error('"headers" must be a list of [name, base64]');
  }
  return value.map((header: unknown) => {
    if (!Array.isArray(header) || header.length !== 2 || typeof header[0] !== "string") {
      throw new Error('"headers" must be a list of [name, base64]');
    }
    return [header[0], bytesOf("headers", header[1])] as const;
  });
}
