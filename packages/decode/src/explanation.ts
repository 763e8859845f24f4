/** One format that was tried for one side of a record. */
export interface Candidate {
  /** Whether the key or the value was looked at. */
  readonly side: "key" | "value";
  /** The question that the format answers: how the schema is named, how bytes are written, or who wrote them. */
  readonly layer: "framing" | "encoding" | "envelope";
  /** The name of the format, as events have it in `framing`, `encoding` or `envelope`. */
  readonly name: string;
  /** Whether the side was read in this format. */
  readonly won: boolean;
  /** The evidence in the bytes, and why the format won or lost. */
  readonly evidence: string;
}

/** Why a record was read as it was: every format that was tried. */
export interface Explanation {
  /** The formats of the key and of the value, in the order in which they were asked. */
  readonly candidates: readonly Candidate[];
  /** The error that decoding throws, or null. */
  readonly error: Error | null;
}
