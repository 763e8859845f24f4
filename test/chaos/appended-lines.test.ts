import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AppendedLines } from "./appended-lines.ts";

function linesOf(text: string): { readonly path: string; readonly lines: AppendedLines<string> } {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-lines-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "lines.txt");
  writeFileSync(path, text);
  return { path, lines: new AppendedLines(path, (whole) => whole.split("\n").slice(0, -1)) };
}

test("a line that was not written to its end is read once it is", () => {
  const { path, lines } = linesOf("a\nb\nc");
  expect(lines.read()).toEqual(["a", "b"]);
  appendFileSync(path, "d\ne");
  expect(lines.read()).toEqual(["a", "b", "cd"]);
});

test("lines are whole wherever the file is cut into pieces", () => {
  const written = Array.from({ length: 60_000 }, (_, i) => `line ${i} of many, with something more in it`);
  const { lines } = linesOf(written.map((line) => `${line}\n`).join(""));
  expect(lines.read()).toEqual(written);
});
