import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

const home = mkdtempSync(join(tmpdir(), "cdc-bench-drain-"));

afterAll(() => rmSync(home, { recursive: true, force: true }));

async function drain(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<{ code: number; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = "";
  stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  stdout.resume();
  const env = { XDG_STATE_HOME: home, ...more };
  const { signal } = new AbortController();
  // Nobody listens there: what is refused before anybody is asked ends with another code.
  const code = await runProgram(["drain", "-b", "127.0.0.1:1", ...args], { stdout, stderr, liveLine: false, env, interrupt: signal });
  return { code, stderr: said };
}

describe("the PostgreSQL of --to postgres", () => {
  test.each(["shop", "", "me:canary@sink/shop", "postgres://me:canary@sink:port/shop", "mariadb://me:canary@sink/shop", "postgres:canary"])(
    "as %j is refused before anything is touched, and not repeated",
    async (address) => {
      for (const more of [["--to", "postgres"], ["--clean"]]) {
        const { code, stderr } = await drain([...more, "--sink-url", address]);
        expect(stderr).toBe("cdc-bench: --sink-url (env DRAIN_SINK_URL) must be a PostgreSQL, such as postgres://user@host:port/name.\n");
        expect(code).toBe(exitCodes.usage);
      }
      expect(readdirSync(home)).toEqual([]);
    },
  );

  test("comes from the environment, too, where an empty text is none", async () => {
    const wrong = await drain(["--to", "postgres"], { DRAIN_SINK_URL: "canary" });
    expect(wrong).toEqual({ code: exitCodes.usage, stderr: expect.stringMatching(/DRAIN_SINK_URL\) must be a PostgreSQL, (?!.*canary)/) });
    const none = await drain(["--to", "postgres"], { DRAIN_SINK_URL: "" });
    expect(none).toEqual({ code: exitCodes.usage, stderr: expect.stringContaining("which PostgreSQL is written to?") });
  });

  test("may be named although DATABASE_URL is for another program", async () => {
    const { code } = await drain(["--to", "postgres", "--sink-url", "postgres://me@127.0.0.1:1/shop"], { DATABASE_URL: "host=source" });
    expect(code).toBe(exitCodes.connection);
  });
});
