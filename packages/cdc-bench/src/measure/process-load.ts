import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { GCProfiler } from "node:v8";

/** What else the process did while something was measured. */
export interface ProcessLoad {
  /** Time in garbage collection. */
  readonly gcMs: number;
  /** Part of the time in which the event loop was busy, 0 to 1. At 1 the client is what limits the rate. */
  readonly eventLoopUtilization: number;
}

/** Starts to look; the returned function ends it. */
export function watchProcessLoad(): () => ProcessLoad {
  const profiler = new GCProfiler();
  profiler.start();
  const before: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const { utilization } = performance.eventLoopUtilization(before);
    const costsUs = profiler.stop().statistics.map(({ cost }) => cost);
    return { gcMs: costsUs.reduce((sum, cost) => sum + cost, 0) / 1e3, eventLoopUtilization: utilization };
  };
}
