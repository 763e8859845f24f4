import type { Terminal } from "../terminal.ts";
import { openPipeObserver } from "./observation-pipe.ts";
import { createTerminalObserver, type ObserverOptions } from "./terminal-observer.ts";

/** What a measurement says of itself while it runs. Everything but the phase may be absent: what is not known is not shown. */
export interface Observation {
  /** What is being done, such as `snapshot 2 of 4, Avro: consuming`. */
  readonly phase: string;
  readonly done?: number;
  /** How many there will be. With `done` it gives the time left. */
  readonly total?: number;
  /** Whether `total` was counted in offsets. Some may have no record, so it is what there will be at most. */
  readonly countsOffsets?: boolean;
  /** What is counted. @default "records" */
  readonly unit?: string;
  readonly perSecond?: number;
  /** Records that are behind the end of the topics. */
  readonly lag?: number;
  readonly latencyMs?: { readonly p50: number; readonly p95: number; readonly p99: number };
  /** Shares of the time so far by stage, 0 to 1. */
  readonly stages?: Readonly<Record<string, number>>;
}

/** Who listens to a measurement: the live view of a terminal, or the page. */
export interface Observer {
  /** Cheap enough for every batch: what comes too soon after the last one is not shown. */
  observe(observation: () => Observation): void;
  /** Says something at once that stays. */
  note(text: string): void;
  end(): void;
}

/** The observer that a command line has. Goes to stderr, so that stdout holds results alone, or to the pipe that the environment names. */
export function createObserver(terminal: Terminal, options?: ObserverOptions): Observer {
  return openPipeObserver(terminal.env) ?? createTerminalObserver(terminal, options);
}
