/** A function in a profile, with the microseconds in which it or what it called was on the processor. */
export interface Frame {
  readonly name: string;
  readonly valueUs: number;
  /** What the time means for us. */
  readonly area: ProfileArea;
  readonly children: readonly Frame[];
}

/** What the time of a function was for. */
export type ProfileArea = "fetch" | "decompress" | "decode" | "validate" | "handler" | "commit" | "gc" | "idle" | "other";
