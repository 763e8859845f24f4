import type { Decoder } from "@cdckit/decode";
import type { Clock } from "../clock.ts";
import type { Recovery } from "../failure/recovery.ts";
import type { Counters } from "../observe/counters.ts";
import type { Router } from "../routing/router.ts";
import type { Lease } from "./lease.ts";
import type { Turns } from "./turns.ts";

/** What both runners work with. */
export interface RunnerParts {
  readonly decoder: Decoder;
  readonly router: Router;
  readonly counters: Counters;
  readonly recovery: Recovery;
  readonly clock: Clock;
  /** An event that nobody takes halts the consumer. */
  readonly strict: boolean;
  readonly lease: Lease;
  readonly turns: Turns;
  /** Halts the consumer. */
  readonly fail: (error: Error) => void;
  /** A step of the work has ended. Whether anything was handled in it, the counters say. */
  readonly progress: () => void;
}
