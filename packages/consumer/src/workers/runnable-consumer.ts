import type { Health } from "../observe/health.ts";

/** The part of a consumer that works from any thread: what it handles is registered already. */
export interface RunnableConsumer {
  /** Consumes until it is stopped. Resolves after a stop. Rejects with the error that halted it. */
  run(): Promise<void>;
  /** Handles what is in flight, commits, leaves the group and closes the sinks. Resolves after that. Safe at any time, any number of times. */
  stop(): Promise<void>;
  /** How the consumer is, at once. Never throws. */
  health(): Health;
}

/**
 * The method of a consumer that stops waiting for what is in flight, as a second signal does. Signals do not come to worker threads. The key
 * is that of every copy of this package: the module of a thread may have loaded another one.
 */
export const forceStop: unique symbol = Symbol.for("@cdckit/consumer/forceStop") as never;
