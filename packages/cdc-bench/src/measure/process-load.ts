import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { GCProfiler } from "node:v8";

/** What else the process did while something was measured. */
export interface ProcessLoad {
  /** Time in garbage collection. */
  readonly gcMs: number;
  /** Part of the time in which the event loop was busy, 0 to 1. At 1 the client is what limits the rate. */
  readonly eventLoopUtilization: number;
}

/**
 * Watches the process from the first batch of a reading to its last record, as its rate is counted. Joining a group and leaving it takes seconds
 * in which the process only waits; with them, the fastest reader would seem to wait for its brokers.
 */
export class ReadingLoad {
  #profiler: GCProfiler | null = null;
  #before: EventLoopUtilization | undefined;
  #after: EventLoopUtilization | undefined;
  #gcMs = 0;

  /** A batch comes. The watch begins with the first one. */
  batchBegins(): void {
    if (this.#before === undefined) {
      this.#profiler = new GCProfiler();
      this.#profiler.start();
      this.#before = performance.eventLoopUtilization();
    }
  }

  /** A batch is handled. What follows counts only if another one comes. */
  batchEnds(): void {
    this.#after = performance.eventLoopUtilization();
  }

  /** Ends the watch. */
  end(): ProcessLoad {
    const costsUs = this.#profiler?.stop().statistics.map(({ cost }) => cost) ?? [];
    this.#profiler = null;
    this.#gcMs += costsUs.reduce((sum, cost) => sum + cost, 0) / 1e3;
    const { utilization } =
      this.#after === undefined || this.#before === undefined
        ? { utilization: 0 }
        : performance.eventLoopUtilization(this.#after, this.#before);
    return { gcMs: this.#gcMs, eventLoopUtilization: utilization };
  }
}
