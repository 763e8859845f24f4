import type { ProcessLoad } from "../../measure/process-load.ts";
import type { ReadingMeasure } from "../../measure/reading.ts";

/** Who reads: cdckit, what people use today, or a client that decodes nothing. */
export type ReaderKind = "cdckit" | "peer" | "no-decode";

/** One side of the comparison: a reader on a topic. */
export interface Contestant {
  readonly topic: string;
  /** Such as `cdckit` or `kafkajs + avsc`. */
  readonly reader: string;
  readonly kind: ReaderKind;
  /** Reads everything once. Null if it was interrupted. Rejects if it cannot be read. */
  play(): Promise<PlayedRound | null>;
}

/** What one reader did in one round. */
export interface PlayedRound {
  readonly records: number;
  /** Keys and values. */
  readonly bytes: number;
  /** Without joining the group. */
  readonly elapsedMs: number;
  readonly errorRecords: number;
  /** In the time that `elapsedMs` counts. */
  readonly load: ProcessLoad;
  /** Of cdckit's consumer. */
  readonly reading: ReadingMeasure | null;
}
