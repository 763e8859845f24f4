import type { Writable } from "node:stream";

/** What a command may know of the world around it: passed in, so that a test can be the world. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether stderr is a terminal that can rewrite its last line. */
  readonly liveLine: boolean;
  /** The terminal that stdout is shown on. Absent if it is none: a pipe, a file, a test. */
  readonly screen?: { readonly columns: number | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the user interrupts. */
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
