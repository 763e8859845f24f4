import process from "node:process";

/** What one message cost, in processor time: the least of some tries, for a machine that does other things too. */
export async function costOf(decode: () => unknown, tries: number): Promise<{ readonly ms: number; readonly heapBytes: number }> {
  let ms = Number.POSITIVE_INFINITY;
  let heapBytes = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i++) {
    globalThis.gc?.();
    const before = process.memoryUsage();
    const start = process.cpuUsage();
    const kept = await outcomeOrError(decode);
    const { user, system } = process.cpuUsage(start);
    const after = process.memoryUsage();
    ms = Math.min(ms, (user + system) / 1_000);
    heapBytes = Math.min(heapBytes, after.heapUsed + after.external - before.heapUsed - before.external);
    void kept;
  }
  return { ms, heapBytes };
}

async function outcomeOrError(decode: () => unknown): Promise<unknown> {
  try {
    return await decode();
  } catch (error) {
    return error;
  }
}
