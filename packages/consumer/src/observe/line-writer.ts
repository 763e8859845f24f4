import type { Writable } from "node:stream";

/**
 * Writes lines to a stream, and loses those that it does not take, as Node's console does. A disk that is full, or a pipe whose reader has gone,
 * is reported as an event `error`, and an event `error` to which nobody listens ends the process. What happens to the log is no reason to stop
 * handling records: lines are written again when there is space.
 */
export function lineWriter(stream: Writable): (line: string) => void {
  /** Called before the event, whether the failure comes at once (files) or later (pipes). */
  const written = (error: Error | null | undefined): void => {
    if (error !== null && error !== undefined && stream.listenerCount("error") === 0) {
      stream.once("error", ignore);
    }
  };
  return (line) => void stream.write(line, written);
}

function ignore(): void {}
