import { ConsumerError } from "./errors.ts";
import type { LifecycleState } from "./lifecycle.ts";

/**
 * A consumer is started once: a second start must not touch what the first one uses. `wasStarted`: its start was not refused, and it was not
 * only stopped.
 */
export function refuseSecondStart({ phase, error }: LifecycleState, wasStarted: boolean): void {
  if (phase === "idle") {
    return;
  }
  if (!wasStarted && error !== null) {
    const why = "this consumer failed before it was started, and stays stopped; the cause says why: correct that, and create a new one";
    throw new ConsumerError("wrong-phase", why, { cause: error });
  }
  const what = wasStarted ? `was started before and is ${phase}` : "was stopped before it was started";
  throw new ConsumerError("wrong-phase", `this consumer ${what}; create a new one`);
}
