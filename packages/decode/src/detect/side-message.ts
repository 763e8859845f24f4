import type { DecodeError } from "../errors.ts";
import type { Framing, Message, Payload, Side } from "../framing/framing.ts";
import type { RecordCursor, RecordHeaders } from "../record.ts";
import type { Failures } from "./pending.ts";

/** A record that takes the slow path, and what could not be loaded for it. */
export interface ReadRequest {
  readonly cursor: RecordCursor;
  readonly failed: Failures | null;
}

/** The framing that claimed the message, and the error that says that its schema is unknown. */
export interface Declined {
  readonly framing: Framing;
  readonly error: DecodeError;
}

/** One side of one record on its way through the candidates. */
export class SideMessage implements Message, Payload {
  readonly side: Side;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly maxBytes: number;
  /** A message without framing is one value. */
  readonly count = 1;
  /** Set by a candidate that found a frame and leaves the message to the next candidates. */
  declined: Declined | null = null;
  readonly #request: ReadRequest;

  constructor(side: Side, { bytes, start, end }: Span, maxBytes: number, request: ReadRequest) {
    this.side = side;
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.maxBytes = maxBytes;
    this.#request = request;
  }

  get failed(): Failures | null {
    return this.#request.failed;
  }

  /** Read on demand, when a framing looks at the headers: creating them costs more than recognising most formats. */
  get headers(): RecordHeaders {
    const { batch, record } = this.#request.cursor;
    return batch.headersAt(record);
  }
}

export interface Span {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}
