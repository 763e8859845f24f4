import { ConsumerError } from "./errors.ts";
import { checkMembers } from "./option-checks.ts";
import { readMember } from "./user-code/user-value.ts";

/** The options of `run()` and `stream()`. */
export interface RunOptions {
  /**
   * Stops the consumer if it is aborted, as `stop()` does: what is in flight is handled and committed, and `run()` resolves. If it is aborted
   * already, nothing is connected. Its reason is logged, and is the cause of the error if the stop does not end in time (`work-abandoned`).
   */
  readonly signal?: AbortSignal | undefined;
}

/** The signal among the options. Throws a `ConsumerError` for options that are none. */
export function signalOf(method: string, options: RunOptions | undefined): AbortSignal | undefined {
  if (options === undefined) {
    return undefined;
  }
  if (typeof readMember(options, "aborted") === "boolean") {
    throw new ConsumerError("invalid-option", `${method} expects { signal }, found a signal`); // which has no members of its own to be refused
  }
  checkMembers(method, options, ["signal"]);
  const { signal } = options;
  // Not instanceof: libraries and other realms have classes of their own.
  if (
    signal !== undefined &&
    (typeof readMember(signal, "aborted") !== "boolean" || typeof readMember(signal, "addEventListener") !== "function")
  ) {
    throw new ConsumerError(
      "invalid-option",
      `${method} expects an AbortSignal as signal, found ${typeof signal}: give it controller.signal`,
    );
  }
  return signal;
}

/** Calls this with the signal's reason when it is aborted, at once if it is already. The returned function ends that. */
export function onAbort(signal: AbortSignal | undefined, call: (reason: unknown) => void): () => void {
  if (signal === undefined) {
    return () => {};
  }
  const listener = (): void => call(signal.reason);
  if (signal.aborted) {
    listener();
  } else {
    signal.addEventListener("abort", listener, { once: true });
  }
  return () => signal.removeEventListener("abort", listener);
}
