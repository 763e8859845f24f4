import { spawn, spawnSync } from "node:child_process";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { commands } from "./commands.ts";
import { runProgram } from "./program.ts";

const binary = fileURLToPath(new URL("../../bin/cdc-bench.js", import.meta.url));
/** Nobody listens there. */
const nobody = "127.0.0.1:1";
const onNobody = ["--brokers", nobody];

/** What a command line of each command is like. */
interface Row {
  /** Arguments that lack where to read from or what to do, and what the sentence then names. Null: everything has a default. */
  readonly lacking: { readonly args: readonly string[]; readonly names: RegExp } | null;
  /** Arguments that name a server at which nobody listens. Null: the command talks to nobody. */
  readonly unreachable: readonly string[] | null;
  /** What is asked for before other flags are looked at. */
  readonly required?: readonly string[];
}

const rows: Readonly<Record<string, Row>> = {
  codec: { lacking: null, unreachable: [...onNobody, "--topics", "t"] },
  compare: { lacking: { args: [], names: /--brokers|--file|result/ }, unreachable: [...onNobody, "--topics", "a,b"] },
  "create-table": {
    lacking: { args: ["--stack", "/nowhere"], names: /--database|stack/ },
    unreachable: ["--database", `postgres://u:p@${nobody}/d`],
  },
  demo: { lacking: null, unreachable: null },
  doctor: { lacking: null, unreachable: onNobody },
  drain: { lacking: { args: [], names: /--brokers/ }, unreachable: onNobody },
  hints: { lacking: { args: [], names: /--from/ }, unreachable: [...onNobody, "--from", "t"] },
  http: { lacking: null, unreachable: null },
  inspect: { lacking: { args: [], names: /--brokers/ }, unreachable: [...onNobody, "--topics", "t"] },
  offsets: {
    lacking: { args: ["--group", "g"], names: /--brokers/ },
    unreachable: [...onNobody, "--group", "g"],
    required: ["--group", "g"],
  },
  produce: { lacking: { args: ["--rows", "1"], names: /--brokers/ }, unreachable: [...onNobody, "--rows", "1"] },
  redrive: {
    lacking: { args: ["--topic", "t"], names: /--brokers/ },
    unreachable: [...onNobody, "--topic", "t"],
    required: ["--topic", "t"],
  },
  report: { lacking: { args: [], names: /files/ }, unreachable: null },
  roundtrip: { lacking: { args: [], names: /--brokers/ }, unreachable: onNobody },
  run: { lacking: { args: [], names: /--brokers/ }, unreachable: [...onNobody, "--topics", "t"] },
  snapshot: {
    lacking: { args: ["--stack", "/nowhere"], names: /--connect|stack/ },
    unreachable: [
      ...onNobody,
      "--connect",
      `http://${nobody}`,
      "--database",
      `postgres://u:p@${nobody}/d`,
      "--registry",
      `http://${nobody}`,
    ],
  },
  soak: { lacking: { args: [], names: /--brokers/ }, unreachable: onNobody },
  sweep: { lacking: { args: [], names: /--brokers/ }, unreachable: onNobody },
  types: { lacking: { args: [], names: /--brokers/ }, unreachable: [...onNobody, "--topics", "t"] },
  ui: { lacking: null, unreachable: null },
};

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line in this process: to start one for each takes longer than all that is judged here. */
async function cdcBench(...args: readonly string[]): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let [out, err] = ["", ""];
  stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const code = await runProgram(args, { stdout, stderr, liveLine: false, env: {}, interrupt: new AbortController().signal });
  return { code, stdout: out, stderr: err };
}

/** A process of its own: what a connection leaves open may not keep it. */
function cdcBenchProcess(...args: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [binary, ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  return { code: status, stdout, stderr };
}

function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length));
}

test("every command has its row here", () => {
  expect(commands.map(({ name }) => name).filter((name) => !Object.hasOwn(rows, name))).toEqual([]);
});

test("the list of commands fits 80 columns, and has every command", async () => {
  const { code, stdout, stderr } = await cdcBench("--help");
  expect({ code, stderr }).toEqual({ code: exitCodes.ok, stderr: "" });
  expect(widest(stdout)).toBeLessThanOrEqual(80);
  for (const { name } of commands) {
    expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  }
});

test("help COMMAND is what COMMAND --help is", async () => {
  expect(await cdcBench("help", "run")).toEqual(await cdcBench("run", "--help"));
});

const present = commands.map(({ name }) => ({ name, ...(rows[name] as Row) }));

describe.each(present)("$name", ({ name, required = [] }) => {
  test("--help is a result that fits 80 columns", async () => {
    const asked = await cdcBench(name, "--help");
    expect({ ...asked, stdout: "" }).toEqual({ code: exitCodes.ok, stdout: "", stderr: "" });
    expect(asked.stdout).toContain(`Usage: cdc-bench ${name}`);
    expect(widest(asked.stdout)).toBeLessThanOrEqual(80);
    expect(asked.stdout).not.toMatch(/\(default:[^)]*\)\s+\(default:/);
  });

  test("an unknown flag ends with 2, and says which", async () => {
    const ended = await cdcBench(name, ...required, "--frobnicate");
    expect(ended).toEqual({ code: exitCodes.usage, stdout: "", stderr: expect.stringContaining("--frobnicate") });
  });
});

const lackingRows = present.flatMap(({ name, lacking }) => (lacking === null ? [] : [{ name, ...lacking }]));

test.each(lackingRows)("$name: what is missing ends with 2 and a sentence that says what to give", async ({ name, args, names }) => {
  const ended = await cdcBench(name, ...args);
  expect(ended).toEqual({ code: exitCodes.usage, stdout: "", stderr: expect.stringMatching(names) });
  expect(ended.stderr).not.toMatch(/^\s+at /m);
});

const unreachableRows = present.flatMap(({ name, unreachable }) => (unreachable === null ? [] : [{ name, args: unreachable }]));

test.each(unreachableRows)(
  "$name: a server that cannot be reached ends with 3, with its address and without a stack trace",
  ({ name, args }) => {
    const ended = cdcBenchProcess(name, ...args);
    expect(ended.code, ended.stderr).toBe(exitCodes.connection);
    expect(ended.stdout + ended.stderr).toContain(nobody);
    expect(ended.stdout + ended.stderr).not.toMatch(/^\s+at /m);
  },
);

/** What takes the live view away. */
const eraseDown = "\u001b[J";

function withoutColors(text: string): string {
  // oxlint-disable-next-line no-control-regex -- colors begin with one
  return text.replaceAll(/\u001b\[[\d;]*m/g, "");
}

const hasScript = spawnSync("script", ["--version"]).status === 0;

/** Runs a command on a pseudo terminal, and presses Ctrl-C when the terminal shows what is waited for. */
function onTerminal(args: readonly string[], waitFor: RegExp, size = { columns: 80, rows: 24 }): Promise<Ended> {
  const command = [process.execPath, binary, ...args].map((part) => `'${part}'`).join(" ");
  const child = spawn(
    "script",
    ["--quiet", "--return", "--flush", "--command", `stty cols ${size.columns} rows ${size.rows}; exec ${command}`, "/dev/null"],
    {
      env: { PATH: process.env["PATH"], TERM: "xterm" },
    },
  );
  let shown = "";
  let isPressed = false;
  child.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    if (!isPressed && waitFor.test(shown)) {
      isPressed = true;
      child.stdin.write("\u0003");
    }
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout: shown, stderr: "" }));
  });
}

describe.skipIf(!hasScript)("on a real terminal (skipped: there is no script of util-linux)", () => {
  test("Ctrl-C takes the live view away, prints what there is, and ends with 130", async () => {
    const { code, stdout } = await onTerminal(["demo"], /comparing formats, round 1 /);
    expect(code).toBe(exitCodes.interrupted);
    expect(stdout).toContain("█"); // the view was there
    expect(stdout).not.toContain("\u001b[?25l"); // and the cursor, too
    const afterView = withoutColors(stdout.slice(stdout.lastIndexOf(eraseDown) + eraseDown.length));
    expect(afterView).toMatch(/^ABORTED/); // at the beginning of a line that was erased
  });

  test("a terminal that has no size is drawn on as one of 80 columns", async () => {
    const { code, stdout } = await onTerminal(["demo"], /comparing formats, round 1 /, { columns: 0, rows: 0 });
    expect(code).toBe(exitCodes.interrupted);
    expect(stdout).toContain("█");
    expect(stdout).not.toContain("Infinity");
  });

  test("a command has something to show before it has loaded what it does", async () => {
    const { code, stdout } = await onTerminal(["offsets", "--brokers", nobody, "--group", "g"], /$^/);
    expect(code).toBe(exitCodes.connection);
    expect(stdout).toMatch(/^cdc-bench offsets: starting/);
    expect(stdout.slice(stdout.lastIndexOf(eraseDown) + eraseDown.length)).toMatch(/^cdc-bench: cannot reach Kafka/);
  });
});
