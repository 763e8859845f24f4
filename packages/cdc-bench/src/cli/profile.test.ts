import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledRecording } from "@cdckit/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { schemaComplaint } from "../result/result-schema.ts";
import type { RunResult } from "../result/run-result.ts";

const binary = fileURLToPath(new URL("../../bin/cdc-bench.js", import.meta.url));
const recording = bundledRecording("salesorderdetail/json");

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cdc-bench-profile-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

function cdcBench(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [binary, ...args], { encoding: "utf8", cwd: folder });
}

test("--profile writes the flame graph with its configuration, the raw profile beside it, and their sum in the result", async () => {
  const ended = cdcBench("run", "--file", recording.file, "--json", "--profile", "orders.svg");
  expect(ended.stderr).toMatch(/^reading .*\n(\[1\/1\] .*\n)*$/); // what is done, at once, and its progress if it takes seconds
  expect(ended).toMatchObject({ status: exitCodes.ok });
  expect(schemaComplaint(JSON.parse(ended.stdout))).toBeNull();
  const { profile, notes, settings } = JSON.parse(ended.stdout) as RunResult;
  if (profile === undefined) {
    throw new Error("the result has no profile");
  }
  expect(profile).toMatchObject({ flameGraphFile: "orders.svg", cpuProfileFile: "orders.cpuprofile", root: { name: "(root)" } });
  expect(profile.areas.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
  expect(profile.areas.find(({ area }) => area === "decode")?.share).toBeGreaterThan(0);
  expect(notes).toContainEqual(expect.stringContaining("A CPU profile was recorded"));

  const svg = await readFile(join(folder, "orders.svg"), "utf8");
  expect(svg).toMatch(/^<svg /);
  expect(svg).toContain(`mode=${settings.mode}`);
  expect(svg).toContain("from bytes to events"); // the key
  const raw = JSON.parse(await readFile(join(folder, "orders.cpuprofile"), "utf8")) as { nodes: unknown[]; samples: unknown[] };
  expect(raw.nodes.length).toBeGreaterThan(10);
  expect(raw.samples.length).toBeGreaterThan(10);
});

test("--profile without a name names its files after the command, and prints the shares", async () => {
  const ended = cdcBench("codec", "--suite", "ratings", "--mode", "objects", "--quick", "--profile");
  expect(ended.status).toBe(exitCodes.ok);
  expect(ended.stdout).toMatch(/^decode +\d+\.\d%/m);
  expect((await readdir(folder)).map((name) => name.replace(/\d{4}[\dT-]+Z/, "TIME")).sort()).toEqual([
    "cdc-bench-codec-TIME.cpuprofile",
    "cdc-bench-codec-TIME.svg",
  ]);
});

test("a profile that cannot be written costs no run", () => {
  const ended = cdcBench("demo", "--profile", join(folder, "nowhere", "p.svg"));
  expect(ended).toMatchObject({ status: exitCodes.usage, stdout: "", stderr: expect.stringContaining("cannot write the profile") });
  expect(existsSync(join(folder, "nowhere"))).toBe(false);
});
