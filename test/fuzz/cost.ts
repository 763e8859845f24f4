import process from "node:process";

/** What one message cost in processor time, its collections counted in: the wall's clock would show what else the machine does. */
export async function msOf(decode: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await outcomeOrError(decode);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/**
 * What one message and what came of it hold. Apart from the time, as it begins with a collection of everything, behind which the runtime
 * must make the code anew of whatever worked on objects that are gone. Needs `--expose-gc`.
 */
export async function heapBytesOf(decode: () => unknown): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage();
  const kept = await outcomeOrError(decode);
  const after = process.memoryUsage();
  void kept;
  return after.heapUsed + after.external - before.heapUsed - before.external;
}

async function outcomeOrError(decode: () => unknown): Promise<unknown> {
  try {
    return await decode();
  } catch (error) {
    return error;
  }
}
