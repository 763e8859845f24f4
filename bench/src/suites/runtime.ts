import { fileURLToPath } from "node:url";
import type { RuntimeCase, RuntimeResult } from "../cases/runtime.ts";
import { environment } from "../environment.ts";
import { runProcess } from "../run-process.ts";
import { medianOf } from "../spread.ts";

const cases: readonly RuntimeCase[] = ["no decoding", "confluent-avro", "json-with-schema"];
/** Over walking and decoding, at concurrency 1. */
const maxOverhead = 0.15;
const maxNsPerEvent = 1_000;

/** What the runtime costs over its driver and its decoder, each case in a process of its own. */
export async function runRuntime({
  rounds,
  messages = 200_000,
  signal,
}: {
  readonly rounds: number;
  readonly messages?: number;
  readonly signal: AbortSignal;
}): Promise<{ text: string; result: object }> {
  const lines: string[] = [];
  const results: object[] = [];
  for (const name of cases) {
    const ns = await measured(name, rounds, messages, signal);
    const added = medianOf(ns.consumer.map((one, i) => one - (ns.loop[i] ?? 0)));
    const share = medianOf(ns.consumer.map((one, i) => one / (ns.loop[i] ?? 1) - 1));
    const isHeld = added <= maxNsPerEvent && (name === "no decoding" || share <= maxOverhead);
    lines.push(
      `${name}: a loop ${medianOf(ns.loop).toFixed(0)} ns an event, createConsumer ${medianOf(ns.consumer).toFixed(0)}: ` +
        `${added.toFixed(0)} ns more${name === "no decoding" ? "" : `, ${(100 * share).toFixed(1)}%`} (${isHeld ? "held" : "MISSED"})`,
    );
    results.push({ name, addedNsPerEvent: added, share, held: isHeld, nsPerEvent: ns });
  }
  return {
    text: [`runtime, ${messages} events, at most ${maxNsPerEvent} ns an event and ${100 * maxOverhead}% more`, ...lines].join("\n"),
    result: { environment: environment(), messages, maxNsPerEvent, maxOverhead, cases: results },
  };
}

async function measured(name: RuntimeCase, rounds: number, messages: number, signal: AbortSignal): Promise<RuntimeResult> {
  const child = fileURLToPath(new URL("../runtime-child.js", import.meta.url));
  const args = [child, name, String(rounds), String(messages)];
  const { stdout } = await runProcess(process.execPath, args, { signal, deadlineSeconds: 300 });
  return JSON.parse(stdout) as RuntimeResult;
}
