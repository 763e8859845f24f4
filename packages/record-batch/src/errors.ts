import { helpUrlOf } from "./help-url.ts";

/** Every way in which record batches can fail. A code is written here and nowhere else. */
export type RecordBatchErrorCode =
  /** An option has a value that it cannot have. */
  | "invalid-option"
  /** The checksum that the batch carries is not that of its bytes: it was damaged on a disk or on the way. */
  | "crc-mismatch"
  /** The batch contradicts itself: a length, a count or an offset cannot be. */
  | "malformed-batch"
  /** The batch is written in a message format that does not exist. */
  | "unsupported-magic"
  /** The batch names a compression that does not exist. */
  | "unsupported-compression"
  /** The compressed records cannot be decompressed. */
  | "damaged-compression"
  /** The compressed records become more bytes than they may, or a record has too many headers. */
  | "batch-too-large"
  /** The response holds a part of one batch and nothing else. Fetch again with at least `neededBytes`. */
  | "incomplete-batch";

/** Where a record batch stands. */
export interface RecordBatchPlace {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The first offset of the batch. */
  readonly offset: bigint;
}

/** What a {@link RecordBatchError} carries beside its code, its message and its place. */
export interface RecordBatchErrorOptions {
  /** The error of a decompression; absent if there was none. */
  readonly cause?: unknown;
  /** What was expected, if that is a number or a few words. */
  readonly expected?: string | number | bigint;
  /** What was found instead. */
  readonly found?: string | number | bigint;
  /** With `incomplete-batch`: how many bytes the whole batch takes, as it says itself. */
  readonly neededBytes?: number;
}

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/record-batch/RecordBatchError");

/**
 * A record batch that cannot be read. The message says what was expected, what was found and what to do. It never holds bytes of a record.
 * Recognise it with {@link isRecordBatchError}, never with `instanceof`.
 */
export class RecordBatchError extends Error {
  override readonly name = "RecordBatchError";
  /** What is wrong with the batch, for programs. The page at `helpUrl` explains it. */
  readonly code: RecordBatchErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** The message without its code and its place. */
  readonly detail: string;
  /** Null if the error comes from a decompression that was called by itself. */
  readonly topic: string | null;
  /** Null if `topic` is. */
  readonly partition: number | null;
  /**
   * The first offset of the batch. Everything below it was handed over. A compressed message of format 0 or 1 names only its last offset: then it is the
   * offset after what was handed over.
   */
  readonly offset: bigint | null;
  /** What was expected, if that is a number or a few words: a checksum, a length. Null otherwise. */
  readonly expected: string | number | bigint | null;
  /** What was found instead. */
  readonly found: string | number | bigint | null;
  /** With `incomplete-batch`: how many bytes the whole batch takes, as it says itself. Null if it is cut before it says so. */
  readonly neededBytes: number | null;

  constructor(code: RecordBatchErrorCode, detail: string, options: RecordBatchErrorOptions = {}, place: RecordBatchPlace | null = null) {
    super(`[${code}] ${inWords(place)}${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.detail = detail;
    this.topic = place?.topic ?? null;
    this.partition = place?.partition ?? null;
    this.offset = place?.offset ?? null;
    this.expected = options.expected ?? null;
    this.found = options.found ?? null;
    this.neededBytes = options.neededBytes ?? null;
    Object.defineProperty(this, brand, { value: true });
  }

  /** The same error, with the place of the batch. */
  at(place: RecordBatchPlace): RecordBatchError {
    return placed(this, place);
  }

  /** Its name, code, message and fields, with bigints as text. */
  toJSON(): object {
    const { name, code, message, helpUrl, topic, partition, offset, expected, found, neededBytes } = this;
    return {
      name,
      code,
      message,
      helpUrl,
      topic,
      partition,
      offset: jsonValue(offset),
      expected: jsonValue(expected),
      found: jsonValue(found),
      neededBytes,
    };
  }
}

// Outside of the class: the bundler renames a class that names itself, and Node prints that name (`_RecordBatchError`) when it prints the error.
function placed({ code, detail, cause, expected, found, neededBytes }: RecordBatchError, place: RecordBatchPlace): RecordBatchError {
  const options = {
    cause,
    ...(expected === null ? {} : { expected }),
    ...(found === null ? {} : { found }),
    ...(neededBytes === null ? {} : { neededBytes }),
  };
  return new RecordBatchError(code, detail, options, place);
}

/** Whether a value is a {@link RecordBatchError}, also one of another copy of this package. */
export function isRecordBatchError(value: unknown): value is RecordBatchError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}

/** A batch that contradicts itself. `what` names the part. */
export function malformed(what: string, expected: string | number | bigint, found: string | number | bigint): RecordBatchError {
  return new RecordBatchError(
    "malformed-batch",
    `${what}: expected ${expected}, found ${found}. Fetch it again. If it stays so, the log on the broker is damaged, or this is no Kafka broker`,
    { expected, found },
  );
}

/** A batch with a record whose headers would take too much memory. */
export function tooManyHeaders(most: number, found: number): RecordBatchError {
  return new RecordBatchError(
    "batch-too-large",
    `one of its records has ${found} headers, and records of more than ${most} are not read: they would take far more memory than the batch. Move the group past this batch`,
    { expected: `at most ${most} headers`, found },
  );
}

/** A batch whose bytes have another checksum than it says. */
export function crcMismatch(expected: number, found: number): RecordBatchError {
  return new RecordBatchError(
    "crc-mismatch",
    `its checksum is ${inHex(expected)}, but its bytes give ${inHex(found)}. Fetch it again. If it stays so, the log on the broker is damaged: start after this batch, or restore the partition from a replica`,
    { expected: inHex(expected), found: inHex(found) },
  );
}

/** A message format that cannot stand here. `expected` names those that can. */
export function unsupportedMagic(expected: string, found: number): RecordBatchError {
  return new RecordBatchError(
    "unsupported-magic",
    `expected message format ${expected}, found ${found}. Fetch it again. If it stays so, the log on the broker is damaged, or its Kafka is newer than this package`,
    { expected, found },
  );
}

function inHex(crc: number): string {
  return `0x${crc.toString(16).padStart(8, "0")}`;
}

function inWords(place: RecordBatchPlace | null): string {
  return place === null ? "" : `the record batch at offset ${place.offset} of ${place.topic}[${place.partition}]: `;
}

function jsonValue(value: string | number | bigint | null): string | number | null {
  return typeof value === "bigint" ? String(value) : value;
}
