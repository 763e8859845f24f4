import { DecodeError } from "../../errors.ts";
import { typeRef } from "../apicurio/type-ref.ts";
import type { MessageChoice } from "../framing.ts";
import { readVarint, readZigZag, type Varint } from "../varint.ts";

/**
 * How a Protobuf payload under Confluent's prefix names its message: `count, index, ...`, zig-zag varints that lead through the file's
 * messages and the messages inside them. The first message is written as the single byte 00.
 */
export interface MessageIndexes {
  readonly path: readonly number[];
  /** How many bytes they take. */
  readonly length: number;
}

/** Writers that do otherwise, to be read too where the user says that there are some. */
export interface IndexTolerance {
  /**
   * confluent-kafka-dotnet up to 2.10 writes the path from its end.
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

/** Deeper than any messages nest. */
const maxIndexes = 128;
const maxIndex = 2 ** 31 - 1;

/** The indexes at `start`; a `DecodeError` where there are none, or none that can be. */
export function readMessageIndexes(bytes: Uint8Array, start: number, end: number): MessageIndexes {
  return readIndexes(bytes, start, end, readZigZag);
}

/**
 * What the first bytes of a Protobuf payload may choose, most likely first: Confluent's indexes, Apicurio's name of the type (its framing
 * has the same five bytes in front), and what `tolerance` allows. Throws the error of the indexes where nothing is possible.
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

/** Inside of a message, some writers count the messages that maps make, and others do not. */
function choicesOf({ path, length }: MessageIndexes): readonly MessageChoice[] {
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
  return new DecodeError("truncated", "expected the Protobuf message indexes behind the schema id, found the end of the message");
}

function malformed(found: string): DecodeError {
  return new DecodeError(
    "malformed",
    `expected the Protobuf message indexes behind the schema id, found ${found}; does the writer leave them out?`,
  );
}
