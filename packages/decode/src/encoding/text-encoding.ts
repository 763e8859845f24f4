import type { EncodingName } from "../event.ts";

/** An encoding of JSON texts that describe themselves: neither a schema id nor a hint is needed to read them. */
export interface TextEncoding {
  readonly name: EncodingName;
  /** Whether a parsed text is written in this encoding. The first encoding of the list that answers true reads it. */
  holds(parsed: unknown): boolean;
  /** What `explain` says of the encoding. */
  readonly evidence: {
    /** It read all bytes of a message. */
    readonly won: (length: number) => string;
    /** The text is not written in it. */
    readonly absent: string;
    /** The text is written in it, but does not decode. */
    readonly misfit: string;
  };
}
