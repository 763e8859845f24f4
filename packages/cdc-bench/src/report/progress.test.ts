import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Terminal } from "../terminal.ts";
import { createProgress } from "./progress.ts";

function terminalOf(liveLine: boolean): { readonly terminal: Terminal; said(): string } {
  const stderr = new PassThrough();
  const terminal: Terminal = { stdout: new PassThrough(), stderr, liveLine, env: {}, interrupt: new AbortController().signal };
  return { terminal, said: () => String(stderr.read() ?? "") };
}

describe("progress", () => {
  test("rewrites one line on a terminal, at most ten times a second, and takes it away at the end", () => {
    const { terminal, said } = terminalOf(true);
    let nowMs = 0;
    const progress = createProgress(terminal, () => nowMs);
    for (nowMs = 0; nowMs <= 250; nowMs += 10) {
      progress.update(() => `at ${nowMs}`);
    }
    progress.end();
    expect(said()).toBe("\r\u001b[2Kat 100\r\u001b[2Kat 200\r\u001b[2K");
  });

  test("is a plain line every five seconds elsewhere", () => {
    const { terminal, said } = terminalOf(false);
    let nowMs = 0;
    const progress = createProgress(terminal, () => nowMs);
    for (nowMs = 0; nowMs <= 11_000; nowMs += 500) {
      progress.update(() => `at ${nowMs}`);
    }
    progress.end();
    expect(said()).toBe("at 5000\nat 10000\n");
  });

  test("notes stay, and do not run into the live line", () => {
    const { terminal, said } = terminalOf(true);
    let nowMs = 0;
    const progress = createProgress(terminal, () => nowMs);
    nowMs = 100;
    progress.update(() => "live");
    progress.note("stays");
    expect(said()).toBe("\r\u001b[2Klive\r\u001b[2Kstays\n");
  });
});
