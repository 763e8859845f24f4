import { helpUrlOf } from "./help-url.ts";

/** Every way in which a record can fail to decode. This is the only place that lists the codes. */
export type DecodeErrorCode =
  /** The bytes ended before the value was complete. */
  | "truncated"
  /** Bytes are left after the end of the value. */
  | "trailing-bytes"
  /** The bytes break a rule of their encoding: a varint without an end, an unknown union branch, a JSON syntax error. */
  | "malformed"
  /** Text that is not UTF-8. */
  | "invalid-utf8"
  /** A limit of `limits` was reached: depth, length, number of items. */
  | "limit-exceeded"
  /** The encoding was read, but a column's value contradicts its type: a decimal without bytes, a number beyond a double's range. */
  | "value-invalid"
  /** No known format fits the bytes. */
  | "unknown-format"
  /** The format was recognised, but it cannot be decoded here. */
  | "unsupported-format"
  /** The registry answered that it has no such schema. */
  | "schema-not-found"
  /** The message names a schema, but the decoder has no schema source. */
  | "schema-source-missing"
  /** The registry could not be asked: network error, time-out, redirect, 5xx, 429. The only code that is worth a retry. */
  | "schema-unavailable"
  /** The registry refused the request (401, 403), or its answer was refused: one that is too large, or that is not a schema. */
  | "schema-refused"
  /** The text of the schema cannot be used. */
  | "schema-invalid"
  /** The id leads to a schema that these bytes were not written with. */
  | "schema-mismatch";

/** Whether decoding the same bytes again later can succeed, by code. A new code does not compile without an entry here. */
const retriableByCode: Readonly<Record<DecodeErrorCode, boolean>> = {
  truncated: false,
  "trailing-bytes": false,
  malformed: false,
  "invalid-utf8": false,
  "limit-exceeded": false,
  "value-invalid": false,
  "unknown-format": false,
  "unsupported-format": false,
  "schema-not-found": false,
  "schema-source-missing": false,
  "schema-unavailable": true,
  "schema-refused": false,
  "schema-invalid": false,
  "schema-mismatch": false,
};

/** Where a record stands in Kafka. */
export interface RecordCoordinates {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The offset of the record in its partition. */
  readonly offset: bigint;
}

/** What a {@link DecodeError} carries beside its code and its message. */
export interface DecodeErrorOptions {
  /** The error that led to this one, whole; absent if there was none. */
  readonly cause?: unknown;
  /** The record's coordinates; absent if they are not known yet. */
  readonly at?: RecordCoordinates;
  /** The field that could not be read. The detail names it, too. Absent if the error is not about one field. */
  readonly path?: string | undefined;
}

// In the global symbol registry, so that an error that a second copy of this package has thrown is recognised too.
const brand = Symbol.for("@cdckit/decode/DecodeError");

/**
 * A record could not be decoded. The message says what was expected, what was found and what to do. It never holds bytes of the key or the
 * value. Recognise it with {@link isDecodeError}, never with `instanceof`: two copies of this package in one process have two classes.
 */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** What is wrong, for programs. The page at `helpUrl` explains it. */
  readonly code: DecodeErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** The message without its code. */
  readonly detail: string;
  /**
   * The field that could not be read, after the names of the records around it: `after.total`, `after.tags[3]`. Of a deep path, it has the
   * inner end, after `...`. Absent if the error is not about one field.
   */
  readonly path: string | undefined;
  /** The record's coordinates; absent until the error reaches the decoder's public methods. */
  readonly at: RecordCoordinates | undefined;

  constructor(code: DecodeErrorCode, detail: string, options: DecodeErrorOptions = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.detail = detail;
    this.path = options.path;
    this.at = options.at;
    Object.defineProperty(this, brand, { value: true });
  }

  /** The error's name, code, message and coordinates, with the offset as text. */
  toJSON(): object {
    const { name, code, message, helpUrl, retriable, path, at } = this;
    return {
      name,
      code,
      message,
      helpUrl,
      retriable,
      ...(path === undefined ? {} : { path }),
      ...(at === undefined ? {} : { at: { ...at, offset: String(at.offset) } }),
    };
  }

  /** Whether decoding the same bytes again later can succeed. */
  get retriable(): boolean {
    return retriableByCode[this.code];
  }

  /** The same error with the coordinates of its record. */
  locatedAt(at: RecordCoordinates): DecodeError {
    return this.at === undefined ? located(this, at) : this;
  }
}

// Outside of the class: the bundler renames a class that names itself, and Node prints that name (`_DecodeError`) when it prints the error.
function located({ code, detail, cause, path }: DecodeError, at: RecordCoordinates): DecodeError {
  return new DecodeError(code, detail, { cause, path, at });
}

/** A deeper path is cut, because each part of it makes a new error. */
const maxPathParts = 8;

/** The same error, one record further out: its path begins with the name of the field. What is no {@link DecodeError} stays as it is. */
export function inField(error: unknown, name: string): unknown {
  return isAboutField(error) ? within(error, shownPart(name)) : error;
}

/** The same error, one list further out: its path begins with the number of the item, from 0. */
export function inItem(error: unknown, index: number): unknown {
  return isAboutField(error) ? within(error, `[${index}]`) : error;
}

/** A limit is one of the whole message. */
function isAboutField(error: unknown): error is DecodeError {
  return isDecodeError(error) && error.code !== "limit-exceeded";
}

function within(error: DecodeError, part: string): DecodeError {
  const { code, detail, cause, path: inner = "" } = error;
  if (inner.startsWith("...")) {
    return error;
  }
  const isDeep = (inner.match(/[.[]/g) ?? []).length >= maxPathParts - 1;
  const path = isDeep ? `...${inner}` : `${part}${inner === "" || inner.startsWith("[") ? "" : "."}${inner}`;
  const start = startOf(inner);
  const bare = inner !== "" && detail.startsWith(start) ? detail.slice(start.length) : detail;
  return new DecodeError(code, `${startOf(path)}${bare}`, { cause, path });
}

function startOf(path: string): string {
  return `in ${path}: `;
}

/** A field's name in a path. A name that may be taken for something else is quoted, and a long one is cut. */
function shownPart(name: string): string {
  return /^[\w$-]{1,100}$/.test(name) ? name : JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
}

/** Whether a value is a {@link DecodeError}, from this or another copy of this package. */
export function isDecodeError(value: unknown): value is DecodeError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}

/** Whether a thrown value is an `Error`. Code may throw anything, even a proxy whose traps throw. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false; // a proxy whose traps throw
  }
}

/** A thrown value as text: an error's message, or the value converted to text. */
export function thrownText(thrown: unknown): string {
  try {
    return isError(thrown) ? String(thrown.message) : String(thrown);
  } catch {
    return "a thrown value that cannot be read";
  }
}

/** The `code` of a thrown value, if it is a text. */
export function thrownCode(thrown: unknown): string {
  try {
    const code: unknown = (thrown as { readonly code?: unknown } | null | undefined)?.code;
    return typeof code === "string" ? code : "";
  } catch {
    return ""; // a getter that throws gives no code
  }
}
