/** CockroachDB's hybrid logical clock: nanoseconds since the epoch, a point, and a counter of ten digits. */
export interface HybridTime {
  readonly text: string;
  readonly tsNs: bigint;
  readonly tsMs: number;
}

const hybridTime = /^(\d{1,19})\.\d{10}$/;

/** A time of the hybrid logical clock, or null if the value is not one. */
export function hybridTimeOf(value: unknown): HybridTime | null {
  const wall = typeof value === "string" ? hybridTime.exec(value)?.[1] : undefined;
  if (wall === undefined) {
    return null;
  }
  const tsNs = BigInt(wall);
  return { text: value as string, tsNs, tsMs: Number(tsNs / 1_000_000n) }; // only text can match
}
