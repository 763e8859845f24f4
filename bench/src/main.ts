import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { runColumns } from "./suites/columns.ts";
import { runConsume } from "./suites/consume.ts";
import { runDecode } from "./suites/decode.ts";
import { runFlow } from "./suites/flow.ts";
import { runHeap } from "./suites/heap.ts";
import { runLayers } from "./suites/layers.ts";
import { runMixes } from "./suites/mixes.ts";
import { runPeers } from "./suites/peers.ts";
import { runRecordBatch } from "./suites/record-batch.ts";
import { runRuntime } from "./suites/runtime.ts";
import { runSink } from "./suites/sink.ts";
import { runSoak } from "./suites/soak.ts";
import { runTiers } from "./suites/tiers.ts";

const usage = `usage: npm run bench -- [peers|decode|columns|layers|tiers|mixes|record-batch|runtime|heap|sink|consume|flow|soak]... [options]
  --rounds N     rounds per contender (default 15; of mixes 3, of peers 5)
  --round-ms N   shortest time of one round in milliseconds (default 150)
  --messages N   messages of the heap suite (default 1000000) and of each pass of runtime and consume (200000), and of sink (10000)
  --megabytes N  how much goes through a heap of 256 MiB in flow (default 2600)
  --minutes N    how long soak goes on (default 30); how long peers (25) and mixes (12) may take: no round begins that would end later
  --only REGEX   which mixes of records (default all of them)
  --case REGEX   which cases of peers (default all of them)
  --quick        peers: small sizes and one round, to see that everything works
  --profile      peers: each process writes a profile of the processor, in one round
  --compressions gzip,snappy   peers: measured on top of none, lz4 and zstd
  -o, --output F write the results as JSON too; a whole run of peers writes bench/results/peers.json and peers.md by itself
`;

interface SuiteOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly signal: AbortSignal;
  readonly messages?: number;
  readonly minutes?: number;
  readonly megabytes?: number;
  readonly only?: string;
  readonly case?: string;
  readonly quick?: boolean;
  readonly profile?: boolean;
  readonly compressions?: readonly ("gzip" | "snappy")[];
}

interface SuiteOutcome {
  readonly text: string;
  readonly result: object;
  /** False if the suite is a pass or a failure, and this is a failure. */
  readonly held?: boolean;
  /** Texts that belong into files of the repository. */
  readonly files?: Readonly<Record<string, string>>;
}

const suites: Readonly<Record<string, (options: SuiteOptions) => Promise<SuiteOutcome>>> = {
  peers: runPeers,
  decode: runDecode,
  columns: runColumns,
  layers: runLayers,
  mixes: (options) => runMixes({ minutes: 12, ...options }),
  "record-batch": runRecordBatch,
  runtime: runRuntime,
  heap: runHeap,
  sink: runSink,
  consume: runConsume,
  flow: runFlow,
  soak: runSoak,
  tiers: runTiers,
};

/** What runs if nothing is named: the table of figures. */
const byDefault: readonly string[] = ["peers"];

const defaultRounds = 15;
/** Of suites whose rounds take minutes. */
const roundsOf: Readonly<Record<string, number>> = { mixes: 3, peers: 5 };

/** Suites that end by themselves when they are interrupted, after they have stopped what they started. The others end at once. */
const interruptible: readonly string[] = ["peers", "mixes"];
const interrupt = new AbortController();
/** The suite that is at work. */
let running = "";

const exitCodes = Object.freeze({ failed: 1, usage: 2, interrupted: 130 });

async function main(signal: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      "round-ms": { type: "string", default: "150" },
      messages: { type: "string" },
      minutes: { type: "string" },
      megabytes: { type: "string" },
      only: { type: "string" },
      case: { type: "string" },
      quick: { type: "boolean", default: false },
      profile: { type: "boolean", default: false },
      compressions: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const { only, case: chosenCase, quick, profile } = values;
  const options = {
    roundMs: positive(values["round-ms"], "--round-ms"),
    signal,
    quick,
    profile,
    ...(values.messages === undefined ? {} : { messages: positive(values.messages, "--messages") }),
    ...(only === undefined ? {} : { only }),
    ...(chosenCase === undefined ? {} : { case: chosenCase }),
    ...(values.compressions === undefined ? {} : { compressions: compressionsOf(values.compressions) }),
    ...(values.megabytes === undefined ? {} : { megabytes: positive(values.megabytes, "--megabytes") }),
    ...(values.minutes === undefined ? {} : { minutes: positive(values.minutes, "--minutes") }),
  };
  const chosen = positionals.length === 0 ? byDefault : positionals;
  const results: Record<string, object> = {};
  for (const name of chosen) {
    const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
    if (suite === undefined) {
      throw new TypeError(`there is no suite called ${name}; there are ${Object.keys(suites).join(", ")}`);
    }
    running = name;
    const rounds = values.rounds === undefined ? (roundsOf[name] ?? defaultRounds) : positive(values.rounds, "--rounds");
    const { text, result, held = true, files = {} } = await suite({ ...options, rounds });
    process.stdout.write(`${text}\n`);
    results[name] = result;
    writeTexts(files);
    process.exitCode = held ? (process.exitCode ?? 0) : exitCodes.failed;
  }
  if (values.output !== undefined) {
    writeTexts({ [values.output]: `${JSON.stringify(results, null, 2)}\n` });
  }
}

function writeTexts(files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function compressionsOf(text: string): readonly ("gzip" | "snappy")[] {
  return text.split(",").map((name) => {
    if (name !== "gzip" && name !== "snappy") {
      throw new TypeError(`--compressions takes gzip and snappy, got ${name}`);
    }
    return name;
  });
}

function positive(text: string, flag: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new TypeError(`${flag} must be a positive integer, got ${text}`);
  }
  return value;
}

// A terminal's Ctrl-C arrives twice: from the terminal, and from npm, which passes it on.
const sameKeyMs = 1_000;
let interruptedAtMs = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (!interruptible.includes(running)) {
      process.exit(exitCodes.interrupted);
    }
    if (interrupt.signal.aborted) {
      if (performance.now() - interruptedAtMs < sameKeyMs) {
        return;
      }
      process.exit(exitCodes.interrupted);
    }
    interruptedAtMs = performance.now();
    process.stderr.write("stopping what was started; once more to stop at once\n");
    interrupt.abort(new Error("interrupted"));
  });
}

try {
  await main(interrupt.signal);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n${error instanceof TypeError ? usage : ""}`);
  process.exitCode = interrupt.signal.aborted ? exitCodes.interrupted : error instanceof TypeError ? exitCodes.usage : exitCodes.failed;
}
