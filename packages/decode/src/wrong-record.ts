import { isDecodeError } from "./errors.ts";

/**
 * What to throw for a record that failed: a `TypeError` that names the wrong part of the record if the record itself is wrong, and the
 * failure as it is otherwise. It is asked after a failure only, so that right records pay nothing for it.
 */
export function failureOf(record: unknown, error: unknown): unknown {
  const problem = problemOf(record, isDecodeError(error));
  return problem === null ? error : new TypeError(problem, { cause: error });
}

/** A `DecodeError` is about the bytes: if those are bytes, it is right whatever the rest of the record is. */
function problemOf(record: unknown, isAboutBytes: boolean): string | null {
  if (typeof record !== "object" || record === null) {
    return `expected a record with topic, partition, offset, timestamp, key, value and headers, found ${typeName(record)}`;
  }
  const parts = record as Readonly<Record<string, unknown>>;
  return bytesProblem("key", parts["key"]) ?? bytesProblem("value", parts["value"]) ?? (isAboutBytes ? null : restProblem(parts));
}

function bytesProblem(name: string, value: unknown): string | null {
  const isRight = value === null || value instanceof Uint8Array;
  return isRight
    ? null
    : `expected record.${name} to be bytes (a Uint8Array, such as a Buffer) or null, found ${typeName(value)}: pass the bytes that Kafka has, and null if there are none`;
}

function restProblem({ topic, partition, offset, timestamp, headers }: Readonly<Record<string, unknown>>): string | null {
  if (typeof topic !== "string") {
    return `expected record.topic to be the name of the topic, found ${typeName(topic)}`;
  }
  if (typeof partition !== "number") {
    return `expected record.partition to be a number, found ${typeName(partition)}`;
  }
  for (const [name, value] of Object.entries({ offset, timestamp })) {
    if (typeof value !== "bigint") {
      return `expected record.${name} to be a bigint, found ${typeName(value)}: kafkajs gives it as text, so write BigInt(message.${name})`;
    }
  }
  const isPair = (header: unknown): boolean => Array.isArray(header) && typeof header[0] === "string";
  return Array.isArray(headers) && headers.every(isPair)
    ? null
    : `expected record.headers to be an array of [name, bytes] pairs, found ${Array.isArray(headers) ? "other items" : typeName(headers)}: pass [] if there are none`;
}

function typeName(value: unknown): string {
  return value === null ? "null" : typeof value;
}
