import { createWriteStream, type WriteStream } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { BenchError } from "../bench-error.ts";
import type { TextLook } from "./text-look.ts";
import { styleOf } from "./text-style.ts";
import { columnsOf } from "./text-width.ts";
import { type Terminal, write } from "../terminal.ts";

/** Where a command's results go: stdout, or the file that `-o` names. */
export interface ResultSink {
  /** How text looks there: colors and a width on a terminal, neither in a file or a pipe. */
  readonly look: TextLook;
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file before any work is done, so that a name that cannot be written does not cost a run. */
export async function openResultSink(terminal: Terminal, file: string | undefined): Promise<ResultSink> {
  if (file === undefined) {
    const style = styleOf(terminal.env, terminal.screen !== undefined);
    const look = { style, columns: columnsOf(terminal.env, terminal.screen) };
    return {
      look,
      write: (text) => {
        // Both may be the same terminal.
        terminal.live?.clear();
        return write(terminal.stdout, text);
      },
      close: async () => {},
    };
  }
  const stream = await openFile(file);
  return {
    look: {},
    write: (text) => writeFile(stream, file, text),
    async close() {
      stream.end();
      try {
        await finished(stream);
      } catch (error) {
        throw cannotWrite(file, error); // also of a write that has said so already: this error would hide that one
      }
    },
  };
}

async function writeFile(stream: WriteStream, file: string, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(cannotWrite(file, error)) : resolve()));
  });
}

async function openFile(file: string): Promise<WriteStream> {
  const stream = createWriteStream(file);
  try {
    await once(stream, "open");
  } catch (error) {
    throw cannotWrite(file, error);
  }
  // A failing write says so through its own callback.
  stream.on("error", () => {});
  return stream;
}

function cannotWrite(file: string, error: unknown): BenchError {
  const reason = (error as NodeJS.ErrnoException).code ?? "unknown reason";
  return new BenchError("usage", `cannot write the results to ${file} (${reason}): name a file in a folder that exists and has room.`, {
    cause: error,
  });
}
