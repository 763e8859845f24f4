import type { Sink } from "@cdckit/consumer";
import type { HandledMeter } from "../handled-meter.ts";

/** The sink, with each `apply` counted and timed. `close` is left to the target: a checkpoint outlives a consumer. */
export function meteredSink(sink: Sink, meter: HandledMeter): Sink {
  const { host, schemaSeen } = sink;
  return {
    name: sink.name,
    ...(host !== undefined && { host }),
    claim: (groupId, assignments) => sink.claim(groupId, assignments),
    apply: (batch) => meter.together(`${batch.assignment.topic}-${batch.assignment.partition}`, batch.events, () => sink.apply(batch)),
    ...(schemaSeen && { schemaSeen: (seen) => schemaSeen.call(sink, seen) }),
    close: async () => {},
  };
}
