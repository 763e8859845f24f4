import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";

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
