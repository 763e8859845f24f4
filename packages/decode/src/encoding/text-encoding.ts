import type { EncodingName } from "../event.ts";

/** An encoding whose text tells by itself how it is read: it needs neither a schema's id nor a hint. */
export interface TextEncoding {
  readonly name: EncodingName;
  /** Whether a parsed text is written in this encoding. The first of the list that says so reads it. */
  holds(parsed: unknown): boolean;
  /** What `explain` says of the encoding. */
  readonly evidence: {
    /** It has read all bytes of a message. */
    readonly won: (length: number) => string;
    /** The text is not written in it. */
    readonly absent: string;
    /** The text is written in it, and yet does not decode. */
    readonly misfit: string;
  };
}
