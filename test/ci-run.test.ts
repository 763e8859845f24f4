import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const script = join(import.meta.dirname, "../.ci/run");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cdckit-ci-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What `npm run COMMAND` does. */
interface Run {
  readonly prints: string;
  readonly code: number;
}

/** Runs `.ci/run` without its longer runs, in place of npm's commands those that are given. */
function runWith(commands: Readonly<Record<string, Run>>): { readonly status: number | null; readonly lines: readonly string[] } {
  const cases = Object.entries(commands).map(([name, { prints, code }]) => `${name}) echo "${prints}"; exit ${code} ;;`);
  const npm = `#!/usr/bin/env bash\nfor last; do :; done\ncase "$last" in\n${cases.join("\n")}\n*) echo "unknown: $*"; exit 1 ;;\nesac\n`;
  writeFileSync(join(folder, "npm"), npm, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, CI_LONG_RUNS: "0" };
  const { status, stdout } = spawnSync("bash", [script], { env, encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n") };
}

const check = { prints: "check: all passed", code: 0 };

describe(".ci/run", () => {
  test("ends with one closing line, in which those of both runs of tests are added up", () => {
    const { status, lines } = runWith({
      check,
      test: { prints: "✓ a test\n300 passed, 0 failed, 2 skipped", code: 0 },
      "test:commands": { prints: "9 passed, 0 failed, 9 skipped\n20 passed, 0 failed, 1 skipped", code: 0 },
    });
    expect(lines.at(-1)).toBe("320 passed, 0 failed, 3 skipped");
    expect(status).toBe(0);
  });

  test.each(["check", "test", "test:commands"])("fails if npm run %s fails", (failing) => {
    const passed = { prints: "1 passed, 0 failed, 0 skipped", code: 0 };
    const { status } = runWith({
      ...{ check, test: passed, "test:commands": passed },
      [failing]: { prints: "1 passed, 1 failed, 0 skipped", code: 1 },
    });
    expect(status).toBe(1);
  });
});
