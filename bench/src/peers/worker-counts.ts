/** How the threads of a consumer say how much they have handled. */
export const countsChannel = "cdckit-bench-counts";
export const workerBrokersVariable = "CDCKIT_BENCH_BROKERS";
export const workerDriverVariable = "CDCKIT_BENCH_DRIVER";

export interface Counted {
  readonly worker: number;
  readonly count: number;
  readonly atNs: bigint;
}
