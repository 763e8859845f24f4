import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { belongsToExamples, close, enter, leave, others } from "../../scripts/example/stack-users.mjs";
import { exampleMarker, readState, type StackAddresses, type StackState, writeState } from "../../scripts/stack/state.mjs";

const users = join(import.meta.dirname, "../../scripts/example/stack-users.mjs");

describe("a stack that examples share", () => {
  let dir = "";

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "cdckit-users-"));
    writeState(dir, stateOf(exampleMarker));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function stateOf(marker: string): StackState {
    const addresses = { brokers: "127.0.0.1:9092" } as StackAddresses; // what is asked for here
    return { startedAt: "", starter: { pid: process.pid, marker, log: "" }, services: {}, folders: [], addresses };
  }

  /** Another example: a process that has entered. */
  async function another(): Promise<ChildProcess> {
    const code = `import { enter } from ${JSON.stringify(users)}; enter(${JSON.stringify(dir)}); console.log("in"); setInterval(() => {}, 1e6);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code, exampleMarker], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    return child;
  }

  test("stays up while another one runs, also if this one has started it, and is for the last one to take down", async () => {
    enter(dir);
    const other = await another();
    leave(dir);
    expect(await close(dir)).toBe("others");
    expect(others(dir)).toEqual([other.pid]);
    expect(readState(dir)).toEqual(stateOf(exampleMarker));

    other.kill("SIGKILL"); // it leaves its file behind
    await once(other, "exit");
    expect(await close(dir)).toBe("closed");
    expect(readState(dir)?.addresses).toBeNull();
  });

  test("is waited for while another one decides about it, and may be gone then", async () => {
    const other = await another();
    writeState(dir, { ...stateOf(exampleMarker), starter: { pid: other.pid ?? -1, marker: exampleMarker, log: "" }, addresses: null });
    const closing = close(dir);
    rmSync(join(dir, "state.json"));
    expect(await closing).toBe("gone");
  });

  test("is not theirs if stack:up has started it", () => {
    expect(belongsToExamples(dir)).toBe(true);
    writeState(dir, stateOf("stack.mjs"));
    expect(belongsToExamples(dir)).toBe(false);
  });
});
