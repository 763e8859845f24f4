import type { DecodeError } from "../errors.ts";
import type { Framing, Message, Payload, Side } from "../framing/framing.ts";
import type { RecordCursor, RecordHeaders } from "../record.ts";
import type { Failures } from "./pending.ts";

/** A record that takes the slow path, and what was waited for in vain before it was read again. */
export interface ReadRequest {
  readonly cursor: RecordCursor;
  readonly failed: Failures | null;
}

/** The framing that a message was taken for, and the error that says that nobody knows its schema. */
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
  /** It is one value if nothing frames it. */
  readonly count = 1;
  /** Set by the candidate that took the message for a frame and leaves it to the next ones. */
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

  /** Asked for when a framing looks at them: making them costs more than telling most formats. */
  get headers(): RecordHeaders {
    const { batch, record } = this.#request.cursor;
    return batch.headersAt(record);
  }
}

/** The bytes of one side. */
export interface Span {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}
