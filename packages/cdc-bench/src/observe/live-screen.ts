import { Writable } from "node:stream";
import { displayWidth } from "../report/text-table.ts";
import type { LiveScreen } from "../terminal.ts";

/** What can be drawn on: a terminal's stream, which knows its size at every moment. */
export interface TerminalStream {
  write(text: string): boolean;
  readonly columns?: number;
  readonly rows?: number;
}

const defaultSize = { columns: 80, rows: 24 };

/** Pseudo-terminals that nobody has given a size say 0, as those of `script` and of containers do. */
function sizeOf({ columns, rows }: TerminalStream): LiveScreen["size"] {
  return { columns: columns || defaultSize.columns, rows: rows || defaultSize.rows };
}

/**
 * The cursor is never hidden, so no end of the process can leave it hidden. It stands at the end of the last line, where the terminal writes
 * `^C`: what is erased begins at the first line, and takes that with it.
 */
export function createLiveScreen(terminal: TerminalStream): LiveScreen {
  let drawn: readonly string[] = [];

  const erase = (): string => {
    if (drawn.length === 0) {
      return "";
    }
    // A terminal that became narrower has wrapped what was drawn when it was wider.
    const { columns } = sizeOf(terminal);
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);
    return `\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}\u001b[J`;
  };
  const show = (lines: readonly string[], above = ""): void => {
    const text = erase() + above + lines.join("\n");
    drawn = lines;
    if (text !== "") {
      terminal.write(text);
    }
  };

  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      show(drawn, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      // At once, so that nothing waits in this stream when the process ends.
      done();
    },
  });

  return {
    stream,
    get size() {
      return sizeOf(terminal);
    },
    draw: (lines) => show(lines),
    clear: () => show([]),
  };
}
