/** A Ctrl-C in a script of npm can come twice: from the terminal, and from npm, which passes its own on. The same again is the same for so long. */
const sameKeyMs = 1_000;

interface CtrlCParts {
  /** Milliseconds that only go forward. */
  readonly nowMs: () => number;
  /** Ends the process at once. */
  readonly exit: () => void;
}

/**
 * The first Ctrl-C lets a command print what it has; the second one ends the process at once. Returns what stops listening. A terminal that is
 * closed sends SIGHUP, more than once or beside a SIGTERM, and nobody who is impatient: it never ends the process at once.
 */
export function abortAtCtrlC(controller: AbortController, { nowMs, exit }: CtrlCParts): () => void {
  let seen: { readonly signal: NodeJS.Signals; readonly atMs: number } | null = null;
  const interrupt = (signal: NodeJS.Signals): void => {
    if (seen === null) {
      seen = { signal, atMs: nowMs() };
      controller.abort();
    } else if (signal !== seen.signal || nowMs() - seen.atMs >= sameKeyMs) {
      exit();
    }
  };
  const hangUp = (): void => controller.abort();
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  process.on("SIGHUP", hangUp);
  return () => {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
    process.off("SIGHUP", hangUp);
  };
}
