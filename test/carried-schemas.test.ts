import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const child = fileURLToPath(new URL("carried-schemas-child.mjs", import.meta.url));

test("messages that each bring a schema of their own do not fill the memory", { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--max-old-space-size=64", child]);
  const { events, bytes } = JSON.parse(stdout) as { readonly events: number; readonly bytes: number };
  expect(events).toBe(60);
  expect(bytes).toBeGreaterThan(40e6); // their readers together take three times the heap
});
