import process from "node:process";

export interface Cost {
  readonly ms: number;
  readonly heapBytes: number;
}

/** What one message cost, in processor time, for a machine that does other things too. */
export async function costOf(decode: () => unknown): Promise<Cost> {
  globalThis.gc?.();
  const before = process.memoryUsage();
  const start = process.cpuUsage();
  const kept = await outcomeOrError(decode);
  const { user, system } = process.cpuUsage(start);
  const after = process.memoryUsage();
  void kept;
  return { ms: (user + system) / 1_000, heapBytes: after.heapUsed + after.external - before.heapUsed - before.external };
}

async function outcomeOrError(decode: () => unknown): Promise<unknown> {
  try {
    return await decode();
  } catch (error) {
    return error;
  }
}
