import { StringDecoder } from "node:string_decoder";

/** One line of a stream. A line that is too long is cut, and says so. */
export interface ReadLine {
  readonly text: string;
  readonly isCut: boolean;
}

/** Takes chunks and gives lines, in memory that a line without an end does not fill. */
export function createLineReader(maxLength: number, onLine: (line: ReadLine) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  let held = "";
  let isCut = false;
  const hold = (text: string): void => {
    isCut ||= held.length + text.length > maxLength;
    held = isCut ? (held + text).slice(0, maxLength) : held + text;
  };
  return (chunk) => {
    const parts = decoder.write(chunk).split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      hold(part);
      onLine({ text: held, isCut });
      held = "";
      isCut = false;
    }
    hold(rest);
  };
}
