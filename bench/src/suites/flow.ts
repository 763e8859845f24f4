import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startKafka } from "../../../scripts/stack/kafka.mjs";
import type { FlowOptions, FlowResult, FlowVariant } from "../cases/flow.ts";
import { environment } from "../environment.ts";
import { flowOf } from "../flow-records.ts";
import { produceFlow } from "../flow-producer.ts";
import { runProcess } from "../run-process.ts";

const heapMib = 256;
const variants: readonly FlowVariant[] = ["handler", "sinks"];

type Outcome = FlowResult | { readonly driver: string; readonly variant: FlowVariant; readonly failed: string };

/** Ten times what the heap may hold goes through a consumer: through the driver in memory, and from a Kafka that the run starts. */
export async function runFlow({ megabytes = 2_600, signal }: { readonly megabytes?: number; readonly signal: AbortSignal }): Promise<{
  readonly text: string;
  readonly result: object;
  readonly held: boolean;
}> {
  // What the consumer holds by default, said here because a result must say it.
  const common = { bytes: megabytes * 1e6, mix: "all", maxInFlightBytes: 2 ** 26, slowForMs: 8_000 } as const;
  const outcomes: Outcome[] = [];
  for (const variant of variants) {
    outcomes.push(await passThrough({ ...common, variant, brokers: null }, signal));
  }
  const dir = mkdtempSync(join(tmpdir(), "cdckit-flow-"));
  const kafka = await startKafka({ dir });
  try {
    await produceFlow(kafka.brokers, await flowOf(common.bytes, common.mix));
    for (const variant of variants) {
      outcomes.push(await passThrough({ ...common, variant, brokers: kafka.brokers }, signal));
    }
  } finally {
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  const held = outcomes.every(isComplete);
  const lines = outcomes.map(lineOf);
  return {
    text: [`flow, ${megabytes} MB of recorded messages through a heap of ${heapMib} MiB`, ...lines, held ? "held" : "MISSED"].join("\n"),
    result: { environment: environment(), megabytes, heapMib, maxInFlightBytes: common.maxInFlightBytes, held, outcomes },
    held,
  };
}

/** In a process of its own, which dies if its heap is too small. */
async function passThrough(options: FlowOptions, signal: AbortSignal): Promise<Outcome> {
  const child = fileURLToPath(new URL("../flow-child.js", import.meta.url));
  const args = [`--max-old-space-size=${heapMib}`, child, JSON.stringify(options)];
  try {
    const { stdout } = await runProcess(process.execPath, args, { signal, deadlineSeconds: 3_600 });
    return JSON.parse(stdout) as FlowResult;
  } catch (error) {
    signal.throwIfAborted();
    const driver = options.brokers === null ? "memory" : "kafkajs";
    return { driver, variant: options.variant, failed: (error as Error).message }; // of a process, and of JSON, too
  }
}

function isComplete(outcome: Outcome): boolean {
  return "marks" in outcome && Object.values(outcome.marks).every(({ missing, repeated }) => missing === 0 && repeated === 0);
}

function lineOf(outcome: Outcome): string {
  const name = `${outcome.driver}, ${outcome.variant === "sinks" ? "two sinks" : "handler"}`;
  if ("failed" in outcome) {
    return `${name}: FAILED: ${outcome.failed}`;
  }
  const { records, bytes, seconds, peaks, peakInFlightBytes, marks } = outcome;
  const missing = Object.values(marks).reduce((sum, verdict) => sum + verdict.missing, 0);
  const repeated = Object.values(marks).reduce((sum, verdict) => sum + verdict.repeated, 0);
  return (
    `${name}: ${records} records, ${Math.round(bytes / 1e6)} MB in ${seconds.toFixed(0)} s, ${missing} missing, ${repeated} repeated; ` +
    `peaks in MiB: heap ${mib(peaks.heapUsedBytes)} (alive ${mib(peaks.heapAliveBytes)}), buffers ${mib(peaks.arrayBuffersBytes)}, ` +
    `resident ${mib(peaks.residentBytes)}, in flight ${mib(peakInFlightBytes)}`
  );
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
