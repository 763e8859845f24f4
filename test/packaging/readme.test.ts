import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { inspect } from "node:util";
import { afterAll, describe, expect, test, vi } from "vitest";

const root = join(import.meta.dirname, "../..");

interface WrittenBlocks {
  readonly folder: string;
  readonly files: readonly {
    readonly path: string;
    readonly block: { readonly document: string; readonly line: number; readonly language: string };
    readonly output: string | null;
  }[];
}

const script = `
  import { writeBlocks } from "./scripts/readme.mjs";
  console.log(JSON.stringify(writeBlocks(process.cwd())));`;
const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, encoding: "utf8" });
const { folder, files } = JSON.parse(stdout) as WrittenBlocks;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a block of a document that is marked to run", () => {
  const runnable = files.filter(({ block }) => block.language === "ts run");

  test("exists: the README shows something that needs no broker", () => {
    expect(runnable.map(({ block }) => block.document)).toContain("README.md");
  });

  for (const { path, block, output } of runnable) {
    test(`at ${block.document}:${block.line} runs${output === null ? "" : " and prints what the document says"}`, async () => {
      const printed: string[] = [];
      const log = vi.spyOn(console, "log").mockImplementation((...values: unknown[]) => void printed.push(values.map(textOf).join(" ")));
      try {
        await import(/* @vite-ignore */ `../../${relative(root, path)}`);
      } finally {
        log.mockRestore();
      }
      if (output !== null) {
        expect(printed.join("\n")).toBe(output);
      }
    });
  }
});

function textOf(value: unknown): string {
  return typeof value === "string" ? value : inspect(value, { colors: false });
}
