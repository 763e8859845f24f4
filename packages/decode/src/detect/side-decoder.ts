import { isUtf8 } from "node:buffer";
import { skipByteOrderMark } from "../encoding/json/byte-order-mark.ts";
import { isCanonicalScalar } from "../encoding/json/canonical-scalar.ts";
import { DecodeError, type DecodeErrorCode, isDecodeError } from "../errors.ts";
import type { EncodingName, FramingName } from "../event.ts";
import { confluent, confluentId, frameLength } from "../framing/confluent/recognise.ts";
import type { Frame, Framing, Message, Payload, Side } from "../framing/framing.ts";
import { undecodableFormat } from "../framing/undecodable.ts";
import type { RecordCursor, RecordHeaders } from "../record.ts";
import type { FastPathMatch } from "./fast-path-match.ts";
import type { Engine } from "./engine.ts";
import { isBuiltInFraming } from "./formats.ts";
import { JsonSide } from "./json-side.ts";
import { type Failures, type Pending, pendingValue } from "./pending.ts";
import { type NamedSchema, SchemaSide } from "./schema-side.ts";
import { ManyValues, rawRoute, type SideRoute, type SideScope } from "./side-route.ts";
import { type HintedDecoder, hintedDecoder } from "./hinted-decoder.ts";

const noHeaders: RecordHeaders = [];
/** Where Apicurio's `{"schemaId":` differs from Connect's `{"schema":`. */
const lastOfSchemaId = 8;
const firstOfText = 0x20;

/**
 * Reads one side (key or value) of one topic's records. The first bytes say which way to take, for every record anew: what a topic is
 * remembered for only makes that way short.
 */
export class SideDecoder {
  /** How the last value was read. */
  route: SideRoute;
  /** What `read` returned {@link pendingValue} for. */
  pending: Pending | null = null;
  readonly #engine: Engine;
  readonly #side: Side;
  readonly #framings: readonly Framing[];
  readonly #announced: readonly Framing[];
  readonly #schemas: SchemaSide;
  readonly #json: JsonSide;
  readonly #hinted: HintedDecoder | null;
  readonly #maxBytes: number;
  readonly #hasSource: boolean;
  /** Whether the format is told by the first bytes alone, of formats that are known here. */
  readonly #bytesDecide: boolean;
  /** Of the built-in framings, one alone may begin with a brace, and its ninth byte tells. */
  readonly #bracesAreJson: boolean;

  constructor(engine: Engine, scope: SideScope) {
    this.#engine = engine;
    this.#side = scope.side;
    this.#framings = engine.formats.framings.filter(
      (framing) => framing.headerNames.length === 0 && framing !== confluent && framing.name !== "none",
    );
    this.#bracesAreJson = this.#framings.every(isBuiltInFraming);
    this.#announced = scope.announced;
    this.#schemas = new SchemaSide(engine, scope);
    this.#json = new JsonSide(engine, scope);
    this.#hinted = hintedDecoder(engine, scope, this.#schemas, this.#json);
    this.#maxBytes = engine.limits.maxMessageBytes;
    this.#hasSource = engine.schemas !== null;
    this.#bytesDecide = this.#announced.length === 0 && this.#hinted === null && this.#bracesAreJson;
    this.route = this.#json.route;
  }

  /** The side's value; a {@link ManyValues} where it holds several; {@link pendingValue} where `pending` must be loaded first. */
  read(bytes: Buffer, start: number, end: number, cursor: RecordCursor, failed: Failures | null): unknown {
    if (end - start > this.#maxBytes) {
      throw this.#tooLong(end - start);
    }
    return this.#bytesDecide ? this.#readUnannounced(bytes, start, end, failed) : this.#readOutside(bytes, start, end, cursor, failed);
  }

  /** Which messages are certainly written as the last one was; null where headers or the user tell, too. */
  get fastPathMatch(): FastPathMatch | null {
    return this.#bytesDecide ? this.route.fastPathMatch : null;
  }

  #tooLong(length: number): DecodeError {
    return new DecodeError(
      "limit-exceeded",
      `expected a ${this.#side} of at most ${this.#maxBytes} bytes (limits.maxMessageBytes), found ${length}`,
    );
  }

  /** A value whose format the record's headers may announce, or the user has hinted. */
  #readOutside(bytes: Buffer, start: number, end: number, cursor: RecordCursor, failed: Failures | null): unknown {
    if (this.#announced.length > 0) {
      const headers = cursor.batch.headersAt(cursor.record);
      const frame = this.#recognise(this.#announced, { side: this.#side, bytes, start, end, headers, maxBytes: this.#maxBytes });
      if (frame !== null) {
        return frame.frame.isAmbiguous === true
          ? this.#readFrameOr(frame, failed, () => this.#readBytes(bytes, start, end, failed))
          : this.#readFrame(frame, failed);
      }
    }
    return this.#readBytes(bytes, start, end, failed);
  }

  #readBytes(bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    return this.#hinted === null
      ? this.#readUnannounced(bytes, start, end, failed)
      : this.#readHinted(this.#hinted, bytes, start, end, failed);
  }

  #readUnannounced(bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    const id = confluentId(bytes, start, end);
    if (id !== 0) {
      return this.#readPrefixed(id, bytes, start, end, failed);
    }
    if (bytes[start] === 0x7b && end > start && this.#bracesAreJson && bytes[start + lastOfSchemaId] !== 0x49) {
      return this.#side === "value" ? this.#readDocuments(bytes, start, end, failed) : this.#readKeyLikeJson(bytes, start, start, end);
    }
    return this.#readOther(bytes, start, end, failed);
  }

  #readJson(bytes: Buffer, start: number, end: number): unknown {
    const value = this.#json.read(bytes, start, end);
    this.route = this.#json.route;
    return value;
  }

  /** JSON; or, where more follows a document, several of them one behind the other. */
  #readDocuments(bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    try {
      return this.#readJson(bytes, start, end);
    } catch (error) {
      const frame = isDecodeError(error) && error.code === "trailing-bytes" ? this.#recogniseBytes(bytes, start, end) : null;
      if (frame === null || frame.framing.name !== "ticdc") {
        throw error;
      }
      return this.#readFrame(frame, failed);
    }
  }

  #readHinted(hinted: HintedDecoder, bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    const value = hinted.read(bytes, start, end, failed);
    if (value === pendingValue) {
      this.pending = this.#schemas.pending;
    } else {
      this.route = hinted.route();
    }
    return value;
  }

  #readPrefixed(id: number, bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    let value: unknown;
    try {
      value = this.#schemas.readPrefixed(id, bytes, start + frameLength, end, failed);
    } catch (error) {
      if (!isDecodeError(error)) {
        throw error;
      }
      return this.#readWithoutSchema(error, bytes, start, end, failed);
    }
    return this.#fromSchema(value);
  }

  #fromSchema(value: unknown): unknown {
    if (value === pendingValue) {
      this.pending = this.#schemas.pending;
    } else if (this.route !== this.#schemas.route) {
      this.route = this.#schemas.route ?? this.route;
    }
    return value;
  }

  /**
   * The first bytes may look like Confluent's prefix and be something else: another framing that begins with zeros, or, in keys of eight or
   * sixteen bytes, a plain long or UUID. Then nobody knows the id. A message that its own schema does not fit is no such thing. That other
   * keys of the topic are framed is no evidence: what a record is must not depend on which records this process has read before it.
   */
  #readWithoutSchema(error: DecodeError, bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    if (!isCertainlyUnknown(error)) {
      throw error;
    }
    const frame = this.#recogniseBytes(bytes, start, end);
    if (frame !== null) {
      return this.#readFrameOrOwn(frame, bytes, start, end, failed);
    }
    const length = end - start;
    if (this.#side === "value" || (length !== 8 && length !== 16)) {
      throw error;
    }
    const key = this.#readKeyLikeFrame(bytes, start, end);
    this.#decline("confluent");
    return key;
  }

  #readOther(bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    const frame = this.#recogniseBytes(bytes, start, end);
    if (frame !== null && (this.#hasSource || this.#side === "value" || isSelfContained(frame.frame))) {
      return this.#readFrameOrOwn(frame, bytes, start, end, failed);
    }
    const textStart = skipByteOrderMark(bytes, start, end);
    if (this.#side === "value") {
      return mayBeJson(bytes, textStart, end) ? this.#readJson(bytes, textStart, end) : unknownFormat(bytes, start, end);
    }
    return mayBeJson(bytes, textStart, end) ? this.#readKeyLikeJson(bytes, start, textStart, end) : this.#readRawKey(bytes, start, end);
  }

  /**
   * Most plain-text keys do not begin like JSON; one that does and is none is text all the same. So is a number that JSON would write in
   * another way, and `null`: Connect writes no key at all for null.
   */
  #readKeyLikeJson(bytes: Buffer, start: number, textStart: number, end: number): unknown {
    if (!beginsDocument(bytes, textStart, end) && !isCanonicalScalar(bytes, start, end)) {
      return this.#readRawKey(bytes, start, end);
    }
    try {
      return this.#readJson(bytes, textStart, end);
    } catch (error) {
      if (!isDecodeError(error) || !notJson.has(error.code)) {
        throw error;
      }
      return this.#readRawKey(bytes, start, end);
    }
  }

  /**
   * A user's own row may have just the columns schemaId and payload, and a user's own key may be bytes of any kind (a hash, ids side by
   * side) that begin like a frame: then nobody knows the id.
   */
  #readFrameOrOwn(framed: Framed, bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    if (bytes[start] === 0x7b) {
      return this.#readFrameOr(framed, failed, () => this.#readJson(bytes, start, end));
    }
    return this.#side === "key"
      ? this.#readFrameOr(framed, failed, () => this.#readKeyLikeFrame(bytes, start, end))
      : this.#readFrame(framed, failed);
  }

  /** What is in the frame; or, where its schema certainly does not exist and the frame may be none, what else the bytes are to the last one. */
  #readFrameOr(framed: Framed, failed: Failures | null, readOther: () => unknown): unknown {
    try {
      return this.#readFrame(framed, failed);
    } catch (error) {
      if (!isCertainlyUnknown(error)) {
        throw error;
      }
      const value = attempt(readOther);
      if (isDecodeError(value)) {
        throw value.retriable ? value : error;
      }
      if (value !== pendingValue) {
        this.#decline(framed.framing.name);
      }
      return value;
    }
  }

  #decline(framing: FramingName): void {
    this.route = {
      ...this.route,
      fastPathMatch: null,
      declined: { framing, why: "the source knows no such schema, and all bytes can be read without it" },
    };
  }

  #recogniseBytes(bytes: Buffer, start: number, end: number): Framed | null {
    return this.#recognise(this.#framings, { side: this.#side, bytes, start, end, headers: noHeaders, maxBytes: this.#maxBytes });
  }

  #recognise(framings: readonly Framing[], message: Message): Framed | null {
    const framing = framings.find((candidate) => candidate.recognise(message) !== null);
    return framing === undefined ? null : { framing, frame: framing.open(message) };
  }

  #readFrame({ framing, frame }: Framed, failed: Failures | null): unknown {
    const values: unknown[] = [];
    if (frame.payloads.length === 0) {
      this.route = this.#routeOfNothing(framing, frame); // a file without records
    }
    for (const payload of frame.payloads) {
      const value = this.#readPayload(framing, frame, payload, failed);
      if (value === pendingValue) {
        return pendingValue;
      }
      if (frame.payloads.length === 1 && payload.count === 1) {
        return value;
      }
      values.push(...(payload.count === 1 ? [value] : (value as readonly unknown[])));
    }
    return new ManyValues(
      values,
      frame.payloads.reduce((sum, payload) => sum + payload.end - payload.start, 0),
    );
  }

  #routeOfNothing({ name }: Framing, { schema, encoding = "bytes" }: Frame): SideRoute {
    return rawRoute(schema === undefined ? encoding : this.#engine.schemaEncoding(schema.schemaType, undefined).name, name);
  }

  #readPayload(framing: Framing, frame: Frame, { bytes, start, end, count }: Payload, failed: Failures | null): unknown {
    const { schemaId, schema, encoding, message } = frame;
    const id = schema?.id ?? schemaId;
    if (id !== null) {
      const named: NamedSchema = { framing, id, schema, encoding, message };
      return this.#fromSchema(this.#schemas.read(named, bytes, start, end, count, failed));
    }
    const value = this.#readJson(bytes, skipByteOrderMark(bytes, start, end), end);
    this.route = { ...this.route, fastPathMatch: null, framing: framing.name };
    return value;
  }

  #readRawKey(bytes: Buffer, start: number, end: number): unknown {
    const key = bytes.subarray(start, end);
    return isUtf8(key) ? this.#raw("text", key.toString("utf8")) : this.#raw("bytes", Buffer.from(key));
  }

  /** Most frames begin with a control character, as numbers and hashes may and no text does. */
  #readKeyLikeFrame(bytes: Buffer, start: number, end: number): unknown {
    return (bytes[start] as number) < firstOfText
      ? this.#raw("bytes", Buffer.from(bytes.subarray(start, end)))
      : this.#readRawKey(bytes, start, end);
  }

  #raw(encoding: EncodingName, value: unknown): unknown {
    this.route = rawRoute(encoding);
    return value;
  }
}

interface Framed {
  readonly framing: Framing;
  readonly frame: Frame;
}

/** Whether a source has answered that there is no such schema, rather than that it could not find out; or there is no source at all. */
function isCertainlyUnknown(error: unknown): boolean {
  if (!isDecodeError(error) || (error.code !== "schema-not-found" && error.code !== "schema-source-missing")) {
    return false;
  }
  const { cause } = error;
  return !(typeof cause === "object" && cause !== null && "isCertain" in cause && cause.isCertain === false);
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error;
  }
}

/** Whether a frame needs no source to be read. */
function isSelfContained({ schema, schemaId }: Frame): boolean {
  return schema !== undefined || schemaId === null;
}

function unknownFormat(bytes: Buffer, start: number, end: number): never {
  if (end === start) {
    throw new DecodeError("unknown-format", "expected a value, found 0 bytes; a tombstone is null, not empty");
  }
  const known = undecodableFormat(bytes, start, end);
  if (known !== null) {
    throw new DecodeError("unsupported-format", `expected Confluent framing or JSON, found ${known}`);
  }
  const first = (bytes[start] as number).toString(16).padStart(2, "0");
  throw new DecodeError(
    "unknown-format",
    `expected Confluent framing (byte 0 is 00, then a schema id) or JSON text, found ${end - start} bytes beginning with ${first}`,
  );
}

/** What parsing ends in where bytes are no JSON at all. */
const notJson: ReadonlySet<DecodeErrorCode> = new Set(["truncated", "malformed", "trailing-bytes", "invalid-utf8"]);

const jsonFirstBytes: ReadonlySet<number> = new Set(Buffer.from('{["-0123456789tfn \t\r\n'));

function mayBeJson(bytes: Buffer, start: number, end: number): boolean {
  return start < end && jsonFirstBytes.has(bytes[start] as number);
}

/** Whether the first byte that is no white space opens an object, an array or a string. */
function beginsDocument(bytes: Buffer, start: number, end: number): boolean {
  let p = start;
  while (p < end && whiteSpace.has(bytes[p] as number)) {
    p++;
  }
  return p < end && documentFirstBytes.has(bytes[p] as number);
}

const whiteSpace: ReadonlySet<number> = new Set(Buffer.from(" \t\r\n"));
const documentFirstBytes: ReadonlySet<number> = new Set(Buffer.from('{["'));
