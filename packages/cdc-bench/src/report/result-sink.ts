import { constants, createWriteStream, fstatSync, ftruncate, open, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { BenchError } from "../bench-error.ts";
import type { TextLook } from "./text-look.ts";
import { styleOf } from "./text-style.ts";
import { columnsOf } from "./text-width.ts";
import { type Terminal, write } from "../terminal.ts";

/** Where a command's results go: stdout, or the file that `-o` names. */
export interface ResultSink {
  /** How text looks there: colors and a width on a terminal, neither in a file or a pipe. */
  readonly look: TextLook;
  /** `done`: a sentence about what the command has changed by now. It goes to stderr if the text, which would say so, cannot be written. */
  write(text: string, done?: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file before any work is done, so that a name that cannot be written does not cost a run. What the file holds stays until the first
 * write: a run that fails does not cost the last result, which may be the baseline of this one.
 */
export async function openResultSink(terminal: Terminal, file: string | undefined): Promise<ResultSink> {
  if (file === undefined) {
    const style = styleOf(terminal.env, terminal.screen !== undefined);
    const look = { style, columns: columnsOf(terminal.env, terminal.screen) };
    return {
      look,
      write: (text, done) => {
        // Both may be the same terminal.
        terminal.live?.clear();
        if (done !== undefined) {
          terminal.stdout.once("error", () => terminal.stderr.write(`${done}\n`));
        }
        return write(terminal.stdout, text);
      },
      close: async () => {},
    };
  }
  const { stream, empty } = await openFile(file);
  let emptied: Promise<void> | undefined;
  let unsaid: string | undefined;
  return {
    look: {},
    async write(text, done) {
      unsaid = done;
      emptied ??= empty();
      await emptied;
      await writeFile(stream, file, text);
    },
    async close() {
      stream.end();
      try {
        await finished(stream);
      } catch (error) {
        terminal.stderr.write(unsaid === undefined ? "" : `${unsaid}\n`);
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

interface OpenFile {
  readonly stream: WriteStream;
  /** Takes away what the file held when it was opened. */
  empty(): Promise<void>;
}

/** Written in place, as the shell's `>` does: the name may be a link, a pipe or `/dev/stdout`, and its folder one that cannot be written. */
async function openFile(file: string): Promise<OpenFile> {
  try {
    const fd = await promisify(open)(file, constants.O_WRONLY | constants.O_CREAT);
    const isRegular = fstatSync(fd).isFile();
    const stream = createWriteStream(file, { fd });
    // A failing write says so through its own callback.
    stream.on("error", () => {});
    return {
      stream,
      async empty() {
        if (isRegular) {
          await promisify(ftruncate)(fd, 0).catch((error: unknown) => Promise.reject(cannotWrite(file, error)));
        }
      },
    };
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

function cannotWrite(file: string, error: unknown): BenchError {
  const reason = (error as NodeJS.ErrnoException).code ?? "unknown reason";
  return new BenchError("usage", `cannot write the results to ${file} (${reason}): name a file in a folder that exists and has room.`, {
    cause: error,
  });
}
