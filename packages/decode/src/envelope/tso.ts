import { bigintOrNull } from "./source.ts";

/** TiDB's timestamps hold milliseconds above 18 bits of a counter. */
export interface Tso {
  readonly tso: bigint;
  readonly tsMs: number;
}

/** A TSO, however JSON carried it; null where there is none. */
export function tsoOf(value: unknown): Tso | null {
  const tso = bigintOrNull(value);
  return tso === null || tso < 0n ? null : { tso, tsMs: Number(tso >> 18n) };
}
