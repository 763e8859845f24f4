import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";

const setUp = JSON.stringify(pathToFileURL(join(import.meta.dirname, "../scripts/set-up.mjs")).href);
/** Says its id, and which signal came, and goes on until then. */
const script = `for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => { console.log(signal); process.exit(7); });
  setInterval(() => {}, 1000); console.log(process.pid);`;

describe("a script that runs in the terminal of another", () => {
  test.each(["SIGTERM", "SIGHUP"] as const)("gets the %s of the one that started it, which ends as the script did", async (signal) => {
    const code = `import { runHere } from ${setUp}; await runHere(["-e", ${JSON.stringify(script)}]); console.log("not reached");`;
    const outer = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    outer.stdout.on("data", (chunk) => {
      output += String(chunk);
      if (/^\d+\n$/.test(output)) {
        outer.kill(signal);
      }
    });
    const [status] = (await once(outer, "close")) as [number | null];
    expect(output).toMatch(new RegExp(`^\\d+\\n${signal}\\n$`));
    expect(status).toBe(7);
  });

  test("gives its exit code to the one that started it", async () => {
    const code = `import { runHere } from ${setUp}; console.log(await runHere(["-e", "process.exit(3)"]));`;
    const outer = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    const [[chunk]] = await Promise.all([once(outer.stdout, "data"), once(outer, "close")]);
    expect(String(chunk)).toBe("3\n");
  });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("what a script installs and builds is killed by its %s, whatever it does about signals", async (signal, code) => {
  const folder = mkdtempSync(join(tmpdir(), "set-up-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, "socket");
  const inner = `for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
    require("node:net").createServer((connection) => connection.write("alive")).listen(${JSON.stringify(socket)});`;
  const outer = `import { captureOrEnd } from ${setUp}; await captureOrEnd(process.execPath, ["-e", ${JSON.stringify(inner)}]);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", outer], { stdio: "inherit" });
  const ended = once(child, "close");
  await vi.waitFor(() => expect(existsSync(socket)).toBe(true), { timeout: 10_000 });
  const connection = connect(socket).resume();
  await once(connection, "data");
  const cut = once(connection, "close");
  child.kill(signal);
  expect(await ended).toEqual([code, null]);
  await cut;
});
