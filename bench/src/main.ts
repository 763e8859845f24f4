import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { runColumns } from "./suites/columns.ts";
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

/** What `scripts/bench.mjs` has read of the command line. */
interface Command extends Omit<SuiteOptions, "rounds" | "signal"> {
  readonly suites: readonly string[];
  readonly rounds?: number;
  readonly output?: string;
}

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

/** Each is a file of `suites/`, by which `scripts/bench.mjs` knows it. */
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
const interruptible: readonly string[] = ["peers", "mixes", "tiers", "runtime", "heap", "flow"];
const interrupt = new AbortController();
/** The suite that is at work. */
let running = "";

const exitCodes = Object.freeze({ failed: 1, interrupted: 130 });

async function main(signal: AbortSignal): Promise<void> {
  const { suites: named, rounds: wantedRounds, output, ...options } = JSON.parse(process.argv[2] ?? "") as Command;
  const chosen = named.length === 0 ? byDefault : named;
  const results: Record<string, object> = {};
  for (const name of chosen) {
    const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
    if (suite === undefined) {
      throw new Error(`there is no suite called ${name}; there are ${Object.keys(suites).join(", ")}`);
    }
    running = name;
    const rounds = wantedRounds ?? roundsOf[name] ?? defaultRounds;
    const { text, result, held = true, files = {} } = await suite({ ...options, signal, rounds });
    process.stdout.write(`${text}\n`);
    results[name] = result;
    writeTexts(files);
    process.exitCode = held ? (process.exitCode ?? 0) : exitCodes.failed;
  }
  if (output !== undefined) {
    writeTexts({ [output]: `${JSON.stringify(results, null, 2)}\n` });
  }
}

function writeTexts(files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
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
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = interrupt.signal.aborted ? exitCodes.interrupted : exitCodes.failed;
}
