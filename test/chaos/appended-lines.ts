import { closeSync, openSync, readSync } from "node:fs";

/** The lines of a file that others append to, each parsed once. One that is not written to its end is left for the next look. */
export class AppendedLines<Line> {
  readonly #path: string;
  readonly #parse: (text: string) => readonly Line[];
  readonly #lines: Line[] = [];
  #position = 0;

  /** `parse` gets whole lines, each with its end. */
  constructor(path: string, parse: (text: string) => readonly Line[]) {
    this.#path = path;
    this.#parse = parse;
  }

  /** All that there are by now. */
  read(): readonly Line[] {
    const file = openSync(this.#path, "r");
    const chunk = Buffer.alloc(1 << 20);
    try {
      for (let length = this.#chunk(file, chunk); length > 0; length = this.#chunk(file, chunk)) {
        const end = chunk.subarray(0, length).lastIndexOf("\n") + 1;
        if (end === 0) {
          break;
        }
        this.#lines.push(...this.#parse(chunk.toString("utf8", 0, end)));
        this.#position += end;
      }
    } finally {
      closeSync(file);
    }
    return this.#lines;
  }

  #chunk(file: number, chunk: Buffer): number {
    return readSync(file, chunk, 0, chunk.length, this.#position);
  }
}
