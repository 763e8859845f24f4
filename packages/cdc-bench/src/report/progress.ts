import type { Terminal } from "../terminal.ts";

const liveIntervalMs = 100;
const plainIntervalMs = 5_000;
const eraseLine = "\r\u001b[2K";

/** What a command says of its work while it works. Goes to stderr, so that stdout holds results alone. */
export interface Progress {
  /** Shows the text if it is time for it. Cheap enough to be called for every batch. */
  update(text: () => string): void;
  /** Shows the text at once, on a line that stays. */
  note(text: string): void;
  /** Takes the live line away. */
  end(): void;
}

/** A line that is rewritten in place if stderr is a terminal, and a plain line every few seconds if it is not. */
export function createProgress(terminal: Terminal, now: () => number = performance.now.bind(performance)): Progress {
  const intervalMs = terminal.liveLine ? liveIntervalMs : plainIntervalMs;
  let shownAtMs = now();
  let isLineOpen = false;
  const erase = (): void => {
    if (isLineOpen) {
      terminal.stderr.write(eraseLine);
      isLineOpen = false;
    }
  };
  return {
    update(text) {
      if (now() - shownAtMs < intervalMs) {
        return;
      }
      shownAtMs = now();
      terminal.stderr.write(terminal.liveLine ? `${eraseLine}${text()}` : `${text()}\n`);
      isLineOpen = terminal.liveLine;
    },
    note(text) {
      erase();
      terminal.stderr.write(`${text}\n`);
    },
    end: erase,
  };
}
