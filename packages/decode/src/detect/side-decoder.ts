import { isUtf8 } from "node:buffer";
import { skipByteOrderMark } from "../encoding/json/byte-order-mark.ts";
import { DecodeError, type DecodeErrorCode, isDecodeError } from "../errors.ts";
import type { EncodingName } from "../event.ts";
import { apicurio } from "../framing/apicurio/recognise.ts";
import { confluentId } from "../framing/confluent/recognise.ts";
import type { Side } from "../framing/framing.ts";
import { undecodableFormat } from "../framing/undecodable.ts";
import type { RecordHeaders } from "../record.ts";
import type { SchemaId } from "../schema-source.ts";
import type { Engine } from "./engine.ts";
import { FramedSide, schemaPending } from "./framed-side.ts";
import { JsonSide } from "./json-side.ts";
import { rawRoute, type SideRoute, type SideScope } from "./side-route.ts";

const noHeaders: RecordHeaders = [];

/** Schema ids that the source was asked for in vain, with the error that each ends in. */
export type FailedSchemas = ReadonlyMap<SchemaId, DecodeError>;

/**
 * Reads one side (key or value) of one topic's records. The first bytes say which way to take, for every record anew: what a topic is
 * remembered for only makes that way short.
 */
export class SideDecoder {
  /** How the last value was read. */
  route: SideRoute;
  /** The schema that `read` returned {@link schemaPending} for. */
  pendingId: SchemaId = 0;
  readonly #side: Side;
  readonly #framed: FramedSide;
  readonly #json: JsonSide;
  readonly #maxBytes: number;

  constructor(engine: Engine, scope: SideScope) {
    this.#side = scope.side;
    this.#framed = new FramedSide(engine, scope);
    this.#json = new JsonSide(engine, scope);
    this.#maxBytes = engine.limits.maxMessageBytes;
    this.route = this.#json.route;
  }

  read(bytes: Buffer, start: number, end: number, failed: FailedSchemas | null): unknown {
    if (end - start > this.#maxBytes) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a ${this.#side} of at most ${this.#maxBytes} bytes (limits.maxMessageBytes), found ${end - start}`,
      );
    }
    const id = confluentId(bytes, start, end);
    if (id !== 0) {
      return this.#readFramed(id, bytes, start, end, failed);
    }
    const first = bytes[start];
    if (first === 0x7b && end > start && this.#side === "value") {
      const value = this.#json.read(bytes, start, end);
      this.route = this.#json.route;
      return value;
    }
    return this.#readOther(bytes, start, end);
  }

  #readFramed(id: number, bytes: Buffer, start: number, end: number, failed: FailedSchemas | null): unknown {
    const failure = failed?.get(id);
    if (failure !== undefined) {
      return this.#withoutSchema(failure, bytes, start, end);
    }
    let value: unknown;
    try {
      value = this.#framed.read(id, bytes, start, end);
    } catch (error) {
      if (!isDecodeError(error)) {
        throw error;
      }
      return this.#withoutSchema(error, bytes, start, end);
    }
    if (value === schemaPending) {
      this.pendingId = id;
      return schemaPending;
    }
    this.route = this.#framed.route ?? this.route;
    return value;
  }

  /**
   * Keys of eight or sixteen bytes may be a plain long or UUID whose first byte happens to be zero: then nobody knows the id. A key that
   * its own schema does not fit is no such thing.
   */
  #withoutSchema(error: DecodeError, bytes: Buffer, start: number, end: number): unknown {
    const length = end - start;
    const mayBePrimitive = this.#side === "key" && (length === 8 || length === 16) && error.code === "schema-not-found";
    if (!mayBePrimitive) {
      throw error;
    }
    return this.#raw("bytes", Buffer.from(bytes.subarray(start, end)));
  }

  #readOther(bytes: Buffer, start: number, end: number): unknown {
    const textStart = skipByteOrderMark(bytes, start, end);
    if (mayBeJson(bytes, textStart, end)) {
      try {
        const value = this.#json.read(bytes, textStart, end);
        this.route = this.#json.route;
        return value;
      } catch (error) {
        // Most plain-text keys do not begin like JSON; one that does and is none is text all the same.
        if (this.#side === "value" || !isDecodeError(error) || !notJson.has(error.code)) {
          throw error;
        }
      }
    }
    const framing = apicurio.recognise({ side: this.#side, bytes, start, end, headers: noHeaders, maxBytes: this.#maxBytes });
    if (framing !== null) {
      throw apicurioError(framing);
    }
    return this.#side === "key" ? this.#readRawKey(bytes, start, end) : unknownFormat(bytes, start, end);
  }

  #readRawKey(bytes: Buffer, start: number, end: number): unknown {
    const key = bytes.subarray(start, end);
    return isUtf8(key) ? this.#raw("text", key.toString("utf8")) : this.#raw("bytes", Buffer.from(key));
  }

  #raw(encoding: EncodingName, value: unknown): unknown {
    this.route = rawRoute(encoding);
    return value;
  }
}

export function apicurioError(evidence: string): DecodeError {
  return new DecodeError(
    "unsupported-format",
    `expected Confluent framing, plain JSON or JSON with schema, found Apicurio's own framing (${evidence}), which is not supported yet: ` +
      "set apicurio.registry.as-confluent=true, headers.enabled=false and use-id=contentId on the converter",
  );
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
