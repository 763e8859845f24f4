import { bigintOrNull } from "./source.ts";

/** A timestamp of TiDB: milliseconds, followed by a counter in the lowest 18 bits. */
export interface Tso {
  readonly tso: bigint;
  readonly tsMs: number;
}

/** A TSO from a number or text; null if the value is not one. */
export function tsoOf(value: unknown): Tso | null {
  const tso = bigintOrNull(value);
  return tso === null || tso < 0n ? null : { tso, tsMs: Number(tso >> 18n) };
}
