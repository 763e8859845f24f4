import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Frame } from "../result/profile-frame.ts";
import { frameTreeOf } from "./frame-tree.ts";
import { recordProfile } from "./recorder.ts";

function framesOf(root: Frame): readonly Frame[] {
  return [root, ...root.children.flatMap(framesOf)];
}

function parseForAWhile(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) {
    JSON.parse(JSON.stringify({ list: Array.from({ length: 100 }, (_, i) => ({ i })) }));
  }
}

test("a recorded profile has the functions that ran, the time that passed, and the time that was waited", async () => {
  const startMs = performance.now();
  const { value, profile } = await recordProfile(async () => {
    parseForAWhile(150);
    await setTimeout(300);
    return "done";
  });
  const elapsedUs = (performance.now() - startMs) * 1e3;
  expect(value).toBe("done");
  const frames = framesOf(frameTreeOf(profile, 0));
  const found = frames.find(({ name }) => name.startsWith("parseForAWhile"));
  expect(found?.valueUs).toBeGreaterThan(10_000); // far less than it ran for: a busy machine samples rarely
  expect(frames[0]?.valueUs).toBeLessThanOrEqual(elapsedUs);
  expect(frames.find(({ area }) => area === "idle")?.valueUs).toBeGreaterThan(1_000);
});

test("work that fails fails, and the next profile is recorded all the same", async () => {
  await expect(recordProfile(() => Promise.reject(new Error("no broker")))).rejects.toThrow("no broker");
  await expect(recordProfile(async () => 1)).resolves.toMatchObject({ value: 1 });
});
