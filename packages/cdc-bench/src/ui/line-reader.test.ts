import { expect, test } from "vitest";
import { createLineReader, type ReadLine } from "./line-reader.ts";

function linesOf(chunks: readonly Buffer[], maxLength = 100): readonly ReadLine[] {
  const lines: ReadLine[] = [];
  const read = createLineReader(maxLength, (line) => lines.push(line));
  chunks.forEach(read);
  return lines;
}

test("lines are the same wherever chunks end, also within a character", () => {
  const bytes = Buffer.from("one\nzwei ü 🙂\n\nrest");
  const whole = ["one", "zwei ü 🙂", ""].map((text) => ({ text, isCut: false }));
  expect(linesOf([bytes])).toEqual(whole);
  expect(linesOf([...bytes].map((byte) => Buffer.of(byte)))).toEqual(whole);
});

test("a line that is too long is cut and says so, and the next one is whole", () => {
  const chunks = [Buffer.from("x".repeat(60)), Buffer.from("y".repeat(60)), Buffer.from("z\nnext\n")];
  expect(linesOf(chunks)).toEqual([
    { text: "x".repeat(60) + "y".repeat(40), isCut: true },
    { text: "next", isCut: false },
  ]);
});
