/** A function in a profile, with the microseconds in which it or what it called was on the processor. */
export interface Frame {
  /** The function's name, with its file and line if they are known. */
  readonly name: string;
  /** Microseconds of processor time, callees included. */
  readonly valueUs: number;
  /** What the time means for us. */
  readonly area: ProfileArea;
  /** The functions that it called, each once. */
  readonly children: readonly Frame[];
}

/** What the time of a function was for. */
export type ProfileArea = "fetch" | "decompress" | "decode" | "validate" | "handler" | "commit" | "gc" | "idle" | "other";
