import type { Health } from "../observe/health.ts";
import type { CarriedError } from "./carried-error.ts";
import type { LogLevel } from "./workers-options.ts";

/** What a thread is started with. */
export interface WorkerSetup {
  readonly module: string;
  readonly number: number;
  readonly count: number;
  /** The options of a member that are data. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly levels: readonly LogLevel[];
  readonly reportEveryMs: number;
}

/** `stop` drains, `force` stops waiting. */
export type ToWorker = "stop" | "force";

export type FromWorker =
  /** From time to time, and at each change of phase: also a sign of life. */
  | { readonly kind: "health"; readonly health: Health }
  | { readonly kind: "log"; readonly level: LogLevel; readonly fields: Readonly<Record<string, unknown>>; readonly message: string }
  /** `run()` has settled. What follows is the close of the module. */
  | { readonly kind: "stopped"; readonly health: Health | null; readonly error: CarriedError | null }
  /** The functions of `onStopped` have ended. Nothing follows but the end of the thread. */
  | { readonly kind: "module-closed" };
