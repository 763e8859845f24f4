import type { RegistryClock } from "./clock.ts";

export interface Deadline {
  readonly clock: RegistryClock;
  readonly timeoutMs: number;
  /** Ends the task early, with its reason. */
  readonly closed?: AbortSignal;
  /** The error with which the task ends when its time is up. */
  readonly onTimeout: () => Error;
}

/** Runs a task that ends when its time is up or when the owner closes, even if the task itself does not listen to the signal. */
export async function withDeadline<T>(deadline: Deadline, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, timeoutMs, closed, onTimeout } = deadline;
  closed?.throwIfAborted();
  const controller = new AbortController();
  const onClosed = (): void => controller.abort(closed?.reason);
  closed?.addEventListener("abort", onClosed, { once: true });
  const cancelTimer = clock.after(timeoutMs, () => controller.abort(onTimeout()));
  try {
    return await Promise.race([task(controller.signal), rejectionOf(controller.signal)]);
  } finally {
    cancelTimer();
    closed?.removeEventListener("abort", onClosed);
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}
