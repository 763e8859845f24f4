import { setTimeout as pass } from "node:timers/promises";
import { readEvent } from "../../../measure/decode-meter.ts";
import type { OpenTarget } from "../target.ts";
import { hasBatchCaps, type Tuning } from "../tuning.ts";

/** A handler that reads every event whole. With caps it gets batches. @param workMs how long each call waits for, as for a database; 0 for not at all */
export function handlerTarget(tuning: Tuning, workMs: number): OpenTarget {
  const isBatched = hasBatchCaps(tuning);
  return {
    name: "handler",
    delivery: "at-least-once",
    attach(consumer, _, meter) {
      if (isBatched) {
        consumer.on("*", {
          batch: (events) =>
            meter.together(`${events[0]?.record.topic}-${events[0]?.record.partition}`, events, () => {
              events.forEach(readEvent);
              return workMs > 0 ? pass(workMs) : undefined;
            }),
        });
      } else if (workMs > 0) {
        consumer.on("*", async (event) => {
          readEvent(event);
          await pass(workMs);
          meter.one();
        });
      } else {
        consumer.on("*", (event) => {
          readEvent(event);
          meter.one();
        });
      }
    },
    close: async () => {},
  };
}
