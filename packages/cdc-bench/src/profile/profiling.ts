import type { Profiler } from "node:inspector";
import type { BenchResult } from "../result/bench-result.ts";

/** Records a CPU profile if one is wanted. */
export interface Profiling {
  /** Does the work and records it. For what a command measures; it may come in parts, which become one profile. */
  record<T>(work: () => Promise<T>): Promise<T>;
  /** Whether there is a profile to record. */
  readonly isWanted: boolean;
  /** Adds a profile that another thread has recorded, in place of {@link record}. */
  addThread(profile: Profiler.Profile): void;
  /** Writes the files, and gives the result with its profile. */
  addTo<R extends BenchResult>(result: R): Promise<R>;
}
