import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

async function soak(...args: readonly string[]): Promise<{ code: number; said: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = "";
  stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const { signal } = new AbortController();
  // Nobody listens there: what is refused before anybody is asked ends with another code.
  const code = await runProgram(["soak", "-b", "127.0.0.1:1", ...args], { stdout, stderr, liveLine: false, env: {}, interrupt: signal });
  return { code, said };
}

test.each([
  ["--duration", "500ms"],
  ["--minutes", "0.03"],
])("a soak of %s %s is refused: without a whole window, its rate would be 0", async (...args) => {
  expect(await soak(...args)).toEqual({
    code: exitCodes.usage,
    said: "cdc-bench: a soak is measured in windows of 1 s: give it 2 s or more.\n",
  });
});

test("a soak of two seconds is begun", async () => expect((await soak("--duration", "2s")).code).toBe(exitCodes.connection));
