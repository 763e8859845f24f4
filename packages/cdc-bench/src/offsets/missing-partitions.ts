import { BenchError } from "../bench-error.ts";
import type { PartitionExtent } from "../load/cluster.ts";

/** @throws BenchError if a topic does not have all partitions that were chosen */
export function refuseMissingPartitions(topic: string, partitions: readonly PartitionExtent[], chosen: readonly number[]): void {
  const missing = chosen.filter((number) => !partitions.some(({ partition }) => partition === number));
  if (missing.length > 0) {
    throw new BenchError("usage", `${topic} has no partition ${missing.join(", ")}: it has ${partitions.length}, counted from 0.`);
  }
}
