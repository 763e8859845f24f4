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
import { runRecordBatch } from "./suites/record-batch.ts";
import { runRuntime } from "./suites/runtime.ts";
import { runSink } from "./suites/sink.ts";
import { runSoak } from "./suites/soak.ts";
import { runTiers } from "./suites/tiers.ts";

const usage = `usage: npm run bench -- [decode|columns|layers|tiers|mixes|record-batch|runtime|heap|sink|consume|flow|soak]... [options]
  --rounds N     rounds per contender (default 15)
  --round-ms N   shortest time of one round in milliseconds (default 150)
  --messages N   messages of the heap suite (default 1000000) and of each pass of runtime and consume (200000), and of sink (10000)
  --megabytes N  how much goes through a heap of 256 MiB in flow (default 2600)
  --minutes N    how long soak goes on (default 30)
  --only REGEX   which mixes of records (default all of them)
  -o, --output F write the results as JSON too
`;

interface SuiteOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly messages?: number;
  readonly minutes?: number;
  readonly megabytes?: number;
  readonly only?: string;
}

interface SuiteOutcome {
  readonly text: string;
  readonly result: object;
  /** False if the suite is a pass or a failure, and this is a failure. */
  readonly held?: boolean;
}

const suites: Readonly<Record<string, (options: SuiteOptions) => Promise<SuiteOutcome>>> = {
  decode: runDecode,
  columns: runColumns,
  layers: runLayers,
  mixes: runMixes,
  "record-batch": runRecordBatch,
  runtime: runRuntime,
  heap: runHeap,
  sink: runSink,
  consume: runConsume,
  flow: runFlow,
  soak: runSoak,
  tiers: runTiers,
};

/** What runs when nothing is named: the suites that need no stack. */
const withoutStack: readonly string[] = ["decode", "layers", "runtime", "heap"];

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "15" },
      "round-ms": { type: "string", default: "150" },
      messages: { type: "string" },
      minutes: { type: "string" },
      megabytes: { type: "string" },
      only: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const options = {
    rounds: positive(values.rounds, "--rounds"),
    roundMs: positive(values["round-ms"], "--round-ms"),
    ...(values.messages === undefined ? {} : { messages: positive(values.messages, "--messages") }),
    ...(values.only === undefined ? {} : { only: values.only }),
    ...(values.megabytes === undefined ? {} : { megabytes: positive(values.megabytes, "--megabytes") }),
    ...(values.minutes === undefined ? {} : { minutes: positive(values.minutes, "--minutes") }),
  };
  const chosen = positionals.length === 0 ? withoutStack : positionals;
  const results: Record<string, object> = {};
  for (const name of chosen) {
    const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
    if (suite === undefined) {
      throw new TypeError(`there is no suite called ${name}; there are ${Object.keys(suites).join(", ")}`);
    }
    const { text, result, held = true } = await suite(options);
    process.stdout.write(`${text}\n`);
    results[name] = result;
    process.exitCode = held ? (process.exitCode ?? 0) : 1;
  }
  if (values.output !== undefined) {
    mkdirSync(dirname(values.output), { recursive: true });
    writeFileSync(values.output, `${JSON.stringify(results, null, 2)}\n`);
  }
}

function positive(text: string, flag: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new TypeError(`${flag} must be a positive integer, got ${text}`);
  }
  return value;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n${error instanceof TypeError ? usage : ""}`);
  process.exitCode = error instanceof TypeError ? 2 : 1;
}
