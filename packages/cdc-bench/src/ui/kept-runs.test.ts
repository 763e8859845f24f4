import { mkdtempSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type KeptRun, openKeptRuns } from "./kept-runs.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "cdckit-kept-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function at(second: number): Pick<KeptRun, "command" | "title" | "startedAt"> {
  return { command: "demo", title: "demo", startedAt: new Date(1_700_000_000_000 + second * 1_000).toISOString() };
}

test("the oldest runs make room, and what else lies in the folder stays", async () => {
  mkdirSync(join(dir, "mine"));
  writeFileSync(join(dir, "notes.txt"), "");
  const kept = await openKeptRuns(dir, 2);
  const runs = [await kept.begin(at(1)), await kept.begin(at(2)), await kept.begin(at(3))];
  expect((await kept.list()).map(({ id }) => id)).toEqual([runs[2]?.id, runs[1]?.id]);
  expect(readdirSync(dir).toSorted()).toEqual([runs[1]?.id, runs[2]?.id, "mine", "notes.txt"]);
});

test("a result is there once it is written; a run that was cut off says so", async () => {
  const kept = await openKeptRuns(dir, 5);
  const run = await kept.begin(at(1));
  expect(await kept.resultText(run.id)).toBeNull();
  writeFileSync(kept.resultFile(run.id), '{"command":"demo"}');
  expect(await kept.list()).toMatchObject([{ endedAt: null, exitCode: null }]);
  await kept.finish({ ...run, endedAt: "2026-11-22T00:00:00.000Z", exitCode: 0 });
  const again = await openKeptRuns(dir, 5);
  expect(await again.list()).toMatchObject([{ id: run.id, exitCode: 0 }]);
  expect(await again.resultText(run.id)).toBe('{"command":"demo"}');
  await again.remove(run.id);
  expect(await again.list()).toEqual([]);
});

test.each(["..", "../x", "", "20261122T000000000-0000000", "20261122T000000000-00000000/..", "constructor"])(
  "%j is the name of no run",
  async (id) => {
    const kept = await openKeptRuns(dir, 5);
    expect(() => kept.resultFile(id)).toThrow("no such run");
    await expect((async () => kept.resultText(id))()).rejects.toThrow("no such run");
    expect(() => kept.remove(id)).toThrow("no such run");
  },
);

test("a folder that cannot be written is an error that names the flag", async () => {
  writeFileSync(join(dir, "file"), "");
  await expect(openKeptRuns(join(dir, "file", "below"), 5)).rejects.toThrow(/cannot keep results in .*--dir/);
});
