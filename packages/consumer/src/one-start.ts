import { ConsumerError } from "./errors.ts";
import type { Phase } from "./lifecycle.ts";

/** A consumer is started once: a second start must not touch what the first one uses. `wasStarted`: it was, and not only stopped. */
export function refuseSecondStart(phase: Phase, wasStarted: boolean): void {
  if (phase !== "idle") {
    const what = wasStarted ? `was started before and is ${phase}` : "was stopped before it was started";
    throw new ConsumerError("wrong-phase", `this consumer ${what}; create a new one`);
  }
}
