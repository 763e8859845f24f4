import { constants, PerformanceObserver } from "node:perf_hooks";

export interface MemoryPeaks {
  readonly heapUsedBytes: number;
  /** Right after full collections: what was alive. */
  readonly heapAliveBytes: number;
  /** Outside of the heap: buffers above all. */
  readonly externalBytes: number;
  readonly arrayBuffersBytes: number;
  readonly residentBytes: number;
}

const sampleEveryMs = 20;

/** Watches the memory of this process from here on. The function that it returns ends that and says what the peaks were. */
export function watchMemory(): () => MemoryPeaks {
  const peaks = { heapUsedBytes: 0, heapAliveBytes: 0, externalBytes: 0, arrayBuffersBytes: 0 };
  const look = (): void => {
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    peaks.heapUsedBytes = Math.max(peaks.heapUsedBytes, heapUsed);
    peaks.externalBytes = Math.max(peaks.externalBytes, external);
    peaks.arrayBuffersBytes = Math.max(peaks.arrayBuffersBytes, arrayBuffers);
  };
  const timer = setInterval(look, sampleEveryMs);
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some((entry) => (entry.detail as { readonly kind?: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR)) {
      peaks.heapAliveBytes = Math.max(peaks.heapAliveBytes, process.memoryUsage().heapUsed);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return () => {
    look();
    clearInterval(timer);
    observer.disconnect();
    return { ...peaks, residentBytes: process.resourceUsage().maxRSS * 1024 };
  };
}
