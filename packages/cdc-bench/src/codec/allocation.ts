import { GCProfiler, getHeapStatistics } from "node:v8";

/** What work takes of the heap, and of buffers outside of it. */
export interface Allocation {
  readonly bytes: number;
  readonly collections: number;
  readonly collectionMs: number;
}

/** The heap, and what is outside of it and held by it. */
interface HeapUse {
  readonly usedHeapSize: number;
  readonly externalMemory: number;
}

/**
 * What the work allocates: the growth of the heap between collections, summed up. A collector that runs in the middle takes nothing away
 * from the sum, because the heap is read before and after each collection.
 */
export async function allocationOf(work: () => Promise<unknown>): Promise<Allocation> {
  const stop = startAllocation();
  await work();
  return stop();
}

/** Starts to count; the function that it gives ends the counting. */
export function startAllocation(): () => Allocation {
  const profiler = new GCProfiler();
  profiler.start();
  let before = bytesOf(heapUse());
  return () => {
    const end = bytesOf(heapUse());
    const { statistics } = profiler.stop();
    let bytes = 0;
    let collectionUs = 0;
    for (const { beforeGC, afterGC, cost } of statistics) {
      bytes += Math.max(0, bytesOf(beforeGC.heapStatistics) - before);
      before = bytesOf(afterGC.heapStatistics);
      collectionUs += cost;
    }
    bytes += Math.max(0, end - before);
    return { bytes, collections: statistics.length, collectionMs: collectionUs / 1e3 };
  };
}

/** The measurement with the median number of bytes: buffers that are freed in the middle make single ones too low. Null if there is none. */
export function medianAllocation<Counted extends Pick<Allocation, "bytes">>(allocations: readonly Counted[]): Counted | null {
  return allocations.toSorted((a, b) => a.bytes - b.bytes)[allocations.length >> 1] ?? null;
}

function heapUse(): HeapUse {
  const { used_heap_size: usedHeapSize, external_memory: externalMemory } = getHeapStatistics();
  return { usedHeapSize, externalMemory };
}

function bytesOf({ usedHeapSize, externalMemory }: HeapUse): number {
  return usedHeapSize + externalMemory;
}
