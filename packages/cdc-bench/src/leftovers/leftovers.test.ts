import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BenchError } from "../bench-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { cleanLeftovers, type Leftovers, openLeftovers, type RemoveThing } from "./leftovers.ts";
import type { Thing } from "./thing.ts";

const topic = { kind: "topic", name: "cdc-bench-t", at: "localhost:9092" } as const;
const connector = { kind: "connector", name: "cdc-bench-c", at: "http://localhost:8083/" } as const;
const slot = { kind: "replication-slot", name: "cdc_bench_s", at: "postgres://localhost:5432/shop" } as const;

let home: string;
let folder: string;
let said: string;
let printed: string;
let removed: Thing[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "cdc-bench-state-"));
  folder = join(home, "cdc-bench");
  said = "";
  printed = "";
  removed = [];
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const remove: RemoveThing = async (thing) => void removed.push(thing);

function world(): { readonly env: Record<string, string>; readonly stdout: PassThrough; readonly stderr: PassThrough } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return { env: { XDG_STATE_HOME: home }, stdout, stderr };
}

function open(how: RemoveThing = remove): Promise<Leftovers> {
  return openLeftovers({ command: "snapshot", terminal: world(), remove: how });
}

function clean(how: RemoveThing = remove): Promise<number> {
  return cleanLeftovers({ terminal: world(), remove: how });
}

/** A process that says what it is about to make, and then does not end by itself. */
async function startRun(things: readonly Thing[]): Promise<ChildProcess> {
  const built = join(home, "leftovers.mjs");
  buildSync({
    entryPoints: [fileURLToPath(new URL("./leftovers.ts", import.meta.url))],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outfile: built,
  });
  const code = `
    const { openLeftovers } = await import(${JSON.stringify(built)});
    const terminal = { env: process.env, stdout: process.stdout, stderr: process.stderr };
    const leftovers = await openLeftovers({ command: "drain", terminal, remove: async () => {} });
    for (const thing of ${JSON.stringify(things)}) await leftovers.making(thing);
    process.stdout.write("made");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { XDG_STATE_HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout!, "data");
  return child;
}

async function killedRun(things: readonly Thing[]): Promise<void> {
  const child = await startRun(things);
  child.kill("SIGKILL");
  await once(child, "close");
}

async function files(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".ndjson"));
}

describe("what a run makes", () => {
  test("is on the disk when it may be made, with who makes it and where", async () => {
    const leftovers = await open();
    await leftovers.making(slot);
    const [file = ""] = await files();
    const text = await readFile(join(folder, file), "utf8");
    const [head, thing] = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
    expect(head).toMatchObject({ pid: process.pid, command: "snapshot", startedAt: expect.stringMatching(/^\d{4}-/) });
    expect(thing).toEqual({ making: slot });
    await leftovers.close();
  });

  test("is removed when the run closes, writers first, and its file with it", async () => {
    const leftovers = await open();
    for (const thing of [slot, topic, connector]) {
      await leftovers.making(thing);
    }
    await leftovers.close();
    expect(removed).toEqual([connector, topic, slot]);
    expect(await files()).toEqual([]);
  });

  test("is not touched again after it has gone", async () => {
    const leftovers = await open();
    await leftovers.making(topic);
    await leftovers.making(slot);
    await leftovers.gone(topic);
    await leftovers.remove(slot);
    await leftovers.close();
    expect(removed).toEqual([slot]);
  });

  test("stays written down if it cannot be removed, with the reason on stderr", async () => {
    const leftovers = await open(async () => Promise.reject(new BenchError("connection", "nobody answers there")));
    await leftovers.making(topic);
    await leftovers.close();
    expect(said).toBe("could not remove topic cdc-bench-t at localhost:9092: nobody answers there. Try again with --clean.\n");
    expect(await files()).toHaveLength(1);
  });

  test("that stays for one reason is said in one line", async () => {
    const leftovers = await open(async () => Promise.reject(new BenchError("connection", "the brokers do not delete it")));
    for (const n of [1, 2, 3, 4, 5, 6, 7]) {
      await leftovers.making({ ...topic, name: `t${n}` });
    }
    await leftovers.close();
    expect(said).toMatch(
      /^could not remove topic t7 at \S+, topic t6 [^\n]+, topic t3 at \S+ and 2 more: the brokers do not delete it\. [^\n]+\n$/,
    );
  });
});

test("what a server says of a thing that it does not remove cannot move the cursor", async () => {
  const leftovers = await open(async () => Promise.reject(new Error("no \u001b[2J\u202eway")));
  await leftovers.making(topic);
  await leftovers.close();
  expect(said).toBe("could not remove topic cdc-bench-t at localhost:9092: no ?[2J?way. Try again with --clean.\n");
});

describe("a run that was killed", () => {
  test("is told of by the next start, and cleaned once", async () => {
    await killedRun([topic, slot]);
    await (await open()).close();
    expect(said).toMatch(
      /^an earlier run \(drain, \d{4}-.*Z\) left topic cdc-bench-t at localhost:9092, replication slot cdc_bench_s at .*; --clean removes it\.\n$/,
    );
    expect(removed).toEqual([]);
    expect(await clean()).toBe(exitCodes.ok);
    expect(removed).toEqual([topic, slot]);
    expect(printed).toContain("removed topic cdc-bench-t at localhost:9092\n");
    expect(await files()).toEqual([]);
    expect(await clean()).toBe(exitCodes.ok);
    expect(printed).toContain("nothing to clean");
    expect(removed).toHaveLength(2);
  });

  test("keeps what could not be removed for the next time", async () => {
    await killedRun([topic, slot]);
    const refuseTopics: RemoveThing = (thing) => (thing.kind === "topic" ? Promise.reject(new Error("no")) : remove(thing));
    expect(await clean(refuseTopics)).toBe(exitCodes.connection);
    expect(said).toContain(`If their server is gone for good: delete ${folder}`);
    expect(removed).toEqual([slot]);
    expect(await files()).toHaveLength(1);
    expect(await clean()).toBe(exitCodes.ok);
    expect(await files()).toEqual([]);
  });

  test("in the middle of a line was not making that thing yet, and later lines count", async () => {
    await killedRun([topic]);
    const [file = ""] = await files();
    const text = await readFile(join(folder, file), "utf8");
    await writeFile(join(folder, file), `${text}\n{"making":{"kind":"topic","na\n${JSON.stringify({ making: slot })}\n`);
    expect(await clean()).toBe(exitCodes.ok);
    expect(removed).toEqual([topic, slot]);
  });
});

describe("a run that goes on", () => {
  test("keeps what is its own", async () => {
    const child = await startRun([topic]);
    try {
      await (await open()).close();
      expect(said).toBe("");
      expect(await clean()).toBe(exitCodes.ok);
      expect(removed).toEqual([]);
      expect(said).toMatch(/^drain is still running \(process \d+\) and has topic cdc-bench-t .*: that stays\.\n$/);
      expect(await files()).toHaveLength(1);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("is not confused with another program that got its pid", async () => {
    const child = await startRun([topic]);
    try {
      const [file = ""] = await files();
      const text = await readFile(join(folder, file), "utf8");
      // The pid lives, as a process with another start.
      await writeFile(join(folder, file), text.replace(/"processIdentity":"[^"]*"/, '"processIdentity":"an earlier boot/1"'));
      expect(await clean()).toBe(exitCodes.ok);
      expect(removed).toEqual([topic]);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("on another machine is not judged from here", async () => {
    await killedRun([topic]);
    const [file = ""] = await files();
    const text = await readFile(join(folder, file), "utf8");
    await writeFile(join(folder, file), text.replace(/"host":"[^"]*"/, '"host":"elsewhere"'));
    expect(await clean()).toBe(exitCodes.ok);
    expect(removed).toEqual([]);
    expect(said).toContain("a run of drain on elsewhere has topic cdc-bench-t");
  });
});

describe("the folder", () => {
  test("that cannot be written gives way to one for temporary files, with a word", async () => {
    await writeFile(folder, "a file, where a folder should be");
    const leftovers = await open();
    expect(said).toMatch(
      /^cannot write to .*cdc-bench \(EEXIST\): what this run makes is written down in .*XDG_STATE_HOME names another\.\n/,
    );
    await leftovers.close();
  });

  test("is closed to others, and files that are no records are left alone", async () => {
    await mkdir(folder);
    await chmod(folder, 0o777);
    await writeFile(join(folder, "notes.ndjson"), '{"making":{"kind":"topic","name":"orders","at":"localhost:9092"}}\n');
    await writeFile(join(folder, "list.ndjson"), "[]\nnull\n");
    expect(await clean()).toBe(exitCodes.ok);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(removed).toEqual([]);
    expect(await files()).toHaveLength(2);
    await expect(readFile(join(folder, "notes.ndjson"), "utf8")).resolves.toContain("orders");
  });
});
