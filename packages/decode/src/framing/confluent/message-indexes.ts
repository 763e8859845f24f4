import { DecodeError } from "../../errors.ts";
import { typeRef } from "../apicurio/type-ref.ts";
import type { MessageChoice } from "../framing.ts";
import { readVarint, readZigZag, type Varint } from "../varint.ts";

/**
 * How a Protobuf payload in Confluent's framing names its message: `count, index, ...`, all zig-zag varints. The indexes are a path through
 * the messages of the file and the messages inside them. The path to the first message is written as the single byte 00.
 */
export interface MessageIndexes {
  readonly path: readonly number[];
  /** How many bytes the indexes take. */
  readonly length: number;
}

/** Writers that deviate from the format. Their indexes are read too if the user says that a topic has such writers. */
export interface IndexTolerance {
  /**
   * confluent-kafka-dotnet up to 2.10 writes the path in reverse order.
   * @default false
   */
  readonly reversed?: boolean;
  /**
   * Old writers in JavaScript (kafkajs, konqi) write no indexes at all.
   * @default false
   */
  readonly missing?: boolean;
  /**
   * Early confluent-kafka-python (`use.deprecated.format`) writes plain varints.
   * @default false
   */
  readonly unsigned?: boolean;
}

/** No messages are nested as deeply as this. */
const maxIndexes = 128;
const maxIndex = 2 ** 31 - 1;

/** The indexes at `start`. Throws a `DecodeError` if there are no valid indexes. */
export function readMessageIndexes(bytes: Uint8Array, start: number, end: number): MessageIndexes {
  return readIndexes(bytes, start, end, readZigZag);
}

/**
 * The messages that the first bytes of a Protobuf payload may choose, most likely first: by Confluent's indexes, by Apicurio's name of the
 * type (Apicurio's framing can begin with the same five bytes), and by the forms that `tolerance` allows. Throws the error of the indexes
 * if nothing is possible.
 */
export function confluentChoices(
  bytes: Uint8Array,
  start: number,
  end: number,
  { reversed = false, missing = false, unsigned = false }: IndexTolerance = {},
): readonly MessageChoice[] {
  const indexes = attempt(() => readMessageIndexes(bytes, start, end));
  const ref = typeRef(bytes, start, end);
  const plain = unsigned ? attempt(() => readIndexes(bytes, start, end, readVarint)) : null;
  const choices = [
    ...(indexes instanceof DecodeError ? [] : choicesOf(indexes)),
    ...(ref === null ? [] : [ref]),
    ...(plain === null || plain instanceof DecodeError ? [] : choicesOf(plain)),
    ...(reversed && !(indexes instanceof DecodeError) ? choicesOf({ ...indexes, path: [...indexes.path].reverse() }) : []),
    ...(missing ? choicesOf({ path: [0], length: 0 }) : []),
  ];
  if (choices.length === 0 && indexes instanceof DecodeError) {
    throw indexes;
  }
  return choices;
}

/**
 * The path with both ways of counting nested messages: some writers count the messages that Protobuf makes for map fields, and others do
 * not.
 */
export function choicesOf({ path, length }: MessageIndexes): readonly MessageChoice[] {
  const choice: MessageChoice = { message: { kind: "path", path }, length };
  return path.length < 2 ? [choice] : [choice, { message: { kind: "path", path, mapEntries: true }, length }];
}

function attempt(read: () => MessageIndexes): MessageIndexes | DecodeError {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) {
      return error;
    }
    throw error;
  }
}

type ReadNumber = (bytes: Uint8Array, at: number, end: number) => Varint | null;

function readIndexes(bytes: Uint8Array, start: number, end: number, readNumber: ReadNumber): MessageIndexes {
  const count = numberAt(bytes, start, end, readNumber);
  if (count.value > maxIndexes) {
    throw malformed(`more than ${maxIndexes} of them`);
  }
  const path: number[] = [];
  let { next } = count;
  for (let i = 0; i < count.value; i++) {
    const index = numberAt(bytes, next, end, readNumber);
    path.push(index.value);
    next = index.next;
  }
  return { path: count.value === 0 ? [0] : path, length: next - start };
}

function numberAt(bytes: Uint8Array, at: number, end: number, readNumber: ReadNumber): Varint {
  const number = readNumber(bytes, at, end);
  if (number === null) {
    const isCut = end - at < 5 && bytes.subarray(at, end).every((byte) => byte >= 0x80);
    throw isCut ? truncated() : malformed("a number of more than 32 bits");
  }
  if (number.value < 0) {
    throw malformed("a negative number");
  }
  if (number.value > maxIndex) {
    throw malformed("a number of more than 32 bits");
  }
  return number;
}

function truncated(): DecodeError {
  return new DecodeError(
    "truncated",
    "expected Protobuf message indexes after the schema id, found the end of the message; check whether it was cut",
  );
}

function malformed(found: string): DecodeError {
  return new DecodeError(
    "malformed",
    `expected Protobuf message indexes after the schema id, found ${found}; check whether the writer leaves them out`,
  );
}
