import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly scripts: Readonly<Record<string, string>> };

/** What stands behind `npm run`, and what documents start by itself: a script of Node and its first arguments. */
const commands = [
  ...Object.values(scripts).filter((script) => script.startsWith("node ")),
  ...["node scripts/confluent-client.mjs", "node scripts/bench-peers.mjs", "node docker/connectors.mjs"],
].map((command) => command.split(" ").slice(1));

function run(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe.each(commands.map((command) => [command.join(" "), command] as const))("node %s", (_, command) => {
  test.each(["--help", "-h"])("with %s says how it is used, and does nothing", (flag) => {
    const { status, stdout, stderr } = run(...command, flag);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^usage: n/);
  });

  test("refuses an option that it does not know: a line with its name, and the usage", () => {
    const { status, stdout, stderr } = run(...command, "--frobnicate");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^Unknown option '--frobnicate'\nusage: n/);
    expect(stderr).not.toContain("    at ");
  });
});
