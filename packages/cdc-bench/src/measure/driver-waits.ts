import type { OpenWait, WaitFor } from "@cdckit/consumer";
import { performance } from "node:perf_hooks";

/** Waits that last so long are said. */
const sayAfterMs = 1_000;

/** A wait of a driver, and why its last attempt failed; undefined while none has. */
export interface DriverWait {
  readonly wait: WaitFor;
  readonly cause: unknown;
}

/** The same for another process: of an error its message alone, because what else it holds may not cross. */
export function portableWait({ wait: { what, host, place }, cause }: DriverWait): DriverWait {
  return {
    wait: { what, ...(host !== undefined && { host }), ...(place !== undefined && { place }) },
    cause: cause instanceof Error ? new Error(cause.message) : undefined,
  };
}

/** What a driver waits for at this moment, for a command that has to say why nothing comes. */
export class DriverWaits {
  readonly #open = new Set<OpenDriverWait>();
  readonly #nowMs: () => number;

  /** `nowMs`: milliseconds that only go forward. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Notes the wait, and hands on what the driver says of it. */
  watch(wait: WaitFor, inner: OpenWait | undefined): OpenWait {
    const seen: OpenDriverWait = { wait, sinceMs: this.#nowMs(), cause: wait.cause };
    this.#open.add(seen);
    return {
      failed: (cause) => {
        seen.cause = cause;
        inner?.failed(cause);
      },
      end: () => {
        this.#open.delete(seen);
        inner?.end();
      },
    };
  }

  /** The wait that has lasted longest, for a second or more. Null if there is none. */
  get longest(): DriverWait | null {
    const [longest] = this.#open; // a set keeps the order in which they began
    return longest === undefined || this.#nowMs() - longest.sinceMs < sayAfterMs ? null : longest;
  }
}

interface OpenDriverWait extends DriverWait {
  readonly sinceMs: number;
  cause: unknown;
}
