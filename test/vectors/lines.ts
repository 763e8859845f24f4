import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The lines of a file below this folder, each a JSON object. */
export function linesOf<Line>(file: string): readonly Line[] {
  const text = readFileSync(join(import.meta.dirname, file), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
