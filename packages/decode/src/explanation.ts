/** One format that was tried for one side of a record. */
export interface Candidate {
  readonly side: "key" | "value";
  readonly layer: "framing" | "encoding" | "envelope";
  readonly name: string;
  readonly won: boolean;
  /** The evidence in the bytes, and why the format won or lost. */
  readonly evidence: string;
}

/** Why a record was read as it was: every format that was tried. */
export interface Explanation {
  readonly candidates: readonly Candidate[];
  /** The error that decoding throws, or null. */
  readonly error: Error | null;
}
