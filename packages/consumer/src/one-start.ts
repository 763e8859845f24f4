import { ConsumerError } from "./errors.ts";
import type { LifecycleState } from "./lifecycle.ts";

/**
 * A consumer is started once: a second start must not touch what the first one uses. `wasStarted`: its start was not refused, and it was not
 * only stopped. `started`: what is said if it was; without it, what a second start is told.
 */
export function refuseLate({ phase, error }: LifecycleState, wasStarted: boolean, started?: string): void {
  if (phase === "idle") {
    return;
  }
  if (!wasStarted && error !== null) {
    const why = "this consumer failed before it was started, and stays stopped; the cause says why: correct that, and create a new one";
    throw new ConsumerError("wrong-phase", why, { cause: error });
  }
  if (wasStarted) {
    throw new ConsumerError("wrong-phase", started ?? `this consumer was started before and is ${phase}; create a new one`);
  }
  throw new ConsumerError("wrong-phase", "this consumer was stopped before it was started; create a new one");
}
