import { expect, test } from "vitest";
import { createDurationHistogram } from "../../measure/duration-histogram.ts";
import { RoundtripRun } from "./measure-roundtrip.ts";
import type { ThreadAnswer, ThreadRequest, TrialOutcome } from "./thread-protocol.ts";
import type { TripThread } from "./trip-thread.ts";

/** A thread that plays every trial but the last one, in which Ctrl-C comes before its first round. */
function interruptedThread(interrupt: AbortController, trials: number): TripThread {
  let played = 0;
  const thread = {
    codecs: ["json"],
    rounds: 0,
    stop: () => {},
    request: async (request: ThreadRequest): Promise<ThreadAnswer> => {
      if (request.kind !== "play") {
        return { kind: "memory", measures: [] };
      }
      const isLast = ++played === trials;
      if (isLast) {
        interrupt.abort();
      }
      const rounds = isLast ? 0 : 1;
      const outcome: TrialOutcome = {
        ...{ rounds, values: rounds, bytes: rounds, elapsedMs: 1, latency: createDurationHistogram(), serializeMs: 0, sendMs: 0 },
        ...{ receiveMs: 0, deserializeMs: 0, failures: 0, failure: null, copings: isLast ? {} : { same: 1 } },
      };
      return { kind: "played", outcome };
    },
  };
  return thread as unknown as TripThread;
}

test("a codec is not said to fail with another schema if Ctrl-C came before it has read anything of it", async () => {
  const interrupt = new AbortController();
  const plan = {
    ...{ compressions: ["none"], inFlight: 1, batch: 1, rounds: 2, durationMs: null, warmupRounds: 0, blocks: 1 },
    ...{ evolves: true, memoryRounds: 1, memoryMinMs: 1 },
  };
  const observer = { observe: () => {}, note: () => {}, end: () => {} };
  const run = new RoundtripRun([interruptedThread(interrupt, 3)], plan, interrupt.signal, observer);
  const { evolution } = await run.measure();
  expect(evolution).toEqual([]);
});
