import type { Writable } from "node:stream";
import type { Logger } from "@cdckit/consumer";

/** Lines at the end of a terminal that are redrawn in place. Everything else that is written goes above them. */
export interface LiveScreen {
  /** Writes to the terminal above the lines. What is written must end its line. */
  readonly stream: Writable;
  readonly size: { readonly columns: number; readonly rows: number };
  /** Replaces the lines. Each must be shorter than the terminal is wide. */
  draw(lines: readonly string[]): void;
  /** Takes the lines away. The cursor is where the first of them began. */
  clear(): void;
}

/** The reason of `Terminal.interrupt` if the program that read stdout has ended: `cdc-bench inspect | head`. */
export const readerLeft: unique symbol = Symbol("the reader of stdout has left");

/** What a command may know of the world around it: passed in, so that a test can be the world. */
export interface Terminal {
  /** Where results go. */
  readonly stdout: Writable;
  /** Where progress, warnings and errors go. */
  readonly stderr: Writable;
  /** Whether stderr is a terminal that can rewrite its last lines. */
  readonly liveLine: boolean;
  /** Where the last lines are rewritten; `stderr` then writes above them. Absent: `stderr` knows nothing of it. */
  readonly live?: LiveScreen;
  /** The terminal that stdout is shown on. Absent if it is none: a pipe, a file, a test. */
  readonly screen?: { readonly columns: number | undefined };
  /** Where commands log; `--log-level` says what of it is shown. Absent: nowhere. */
  readonly logger?: Logger;
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the user interrupts, or (with the reason `readerLeft`) when nobody reads the results any more. */
  readonly interrupt: AbortSignal;
}

/** Writes and waits while the reader is slower than we are. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (stream.destroyed || stream.write(text)) {
    return;
  }
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
