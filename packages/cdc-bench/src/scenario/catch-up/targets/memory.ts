import type { OffsetCommit, Sink } from "@cdckit/consumer";
import { setTimeout as pass } from "node:timers/promises";
import { readEvent } from "../../../measure/decode-meter.ts";

/** A sink that keeps checkpoints of its own, in memory, and reads every event. @param delayMs how long each batch takes it beside that */
export function memorySink(name: string, delayMs: number): Sink {
  const checkpoints = new Map<string, bigint>();
  const placeOf = ({ topic, partition }: OffsetCommit["assignment"]): string => `${topic}-${partition}`;
  return {
    name,
    claim: async (_, assignments) =>
      assignments.flatMap((assignment) => {
        const offset = checkpoints.get(placeOf(assignment));
        return offset === undefined ? [] : [{ assignment, offset, topicId: assignment.topicId ?? null }];
      }),
    async apply({ assignment, events, nextOffset }) {
      events.forEach(readEvent);
      if (delayMs > 0 && events.length > 0) {
        await pass(delayMs);
      }
      checkpoints.set(placeOf(assignment), nextOffset);
    },
    close: async () => {},
  };
}
