import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { freePorts } from "../scripts/stack/ports.mjs";

const url = new URL("../scripts/stack/ports.mjs", import.meta.url).href;
/** A number below 1 that draws the first port, for this run alone: other runs of this test must not take the ports of this one. */
const first = Math.random() * 0.9;
const portRange = 12_000;

/** Draws three ports, one after another from the same first one, writes them down, and lives until its input ends. */
const program = `
  const { freePorts } = await import(${JSON.stringify(url)});
  let draws = 0;
  console.log(JSON.stringify(await freePorts(3, () => ${first} + draws++ / ${portRange})));
  process.stdin.resume();`;

describe("free ports", () => {
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.stdin?.end();
      await (child.exitCode === null ? once(child, "exit") : null);
    }
  });

  async function drawn(): Promise<readonly number[]> {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return JSON.parse(line) as number[];
  }

  test("that two processes draw before either has bound one are different", async () => {
    const both = (await Promise.all([drawn(), drawn()])).flat();
    expect(new Set(both).size).toBe(6);
  });

  test("come back when the process that has drawn them ends", async () => {
    const before = await drawn();
    const [child] = children.splice(0);
    child?.stdin?.end();
    await (child?.exitCode === null ? once(child, "exit") : null);
    expect(await drawn()).toEqual(before);
  });

  test("leave out a port that somebody listens on", async () => {
    const [taken = 0] = await freePorts(1);
    const server = createServer().listen(taken, "127.0.0.1");
    await once(server, "listening");
    let draws = 0;
    const number = (taken - 20_000) / portRange;
    const [next] = await freePorts(1, () => number + (draws++ + 0.5) / portRange);
    expect(next).not.toBe(taken);
    server.close();
  });
});
