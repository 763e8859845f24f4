import type { RateSeriesSummary } from "../../measure/rate-series.ts";
import { createHandledMeter, type HandledMeter } from "../catch-up/handled-meter.ts";
import type { OpenTarget } from "../catch-up/target.ts";
import { memorySink } from "../catch-up/targets/memory.ts";
import { meteredSink } from "../catch-up/targets/metered-sink.ts";
import type { Tuning } from "../catch-up/tuning.ts";

export interface SinksTarget extends OpenTarget {
  /** The rate of the slow sink, after a catch-up. Null if there is none. */
  slowRate(): RateSeriesSummary | null;
}

/** A fast sink, and beside it one that takes `delayMs` longer for each batch; null for no other. Each keeps its own checkpoint. */
export function sinksTarget(tuning: Tuning, delayMs: number | null): SinksTarget {
  const fast = memorySink("fast", 0);
  const slow = delayMs === null ? null : memorySink("slow", delayMs);
  let slowMeter: HandledMeter | null = null;
  return {
    name: "sinks",
    delivery: "at-least-once",
    attach(consumer, _, meter) {
      consumer.to(meteredSink(fast, meter));
      if (slow !== null) {
        slowMeter = createHandledMeter(tuning);
        consumer.to(meteredSink(slow, slowMeter));
      }
    },
    slowRate: () => slowMeter?.rate.summary() ?? null,
    close: async () => {},
  };
}
