import { InvalidArgumentError } from "commander";

/** Where a group is to go on reading: an end of each log, an offset, or the first record of a time or later. */
export type OffsetTarget =
  | { readonly kind: "earliest" | "latest" }
  | { readonly kind: "offset"; readonly offset: bigint }
  | { readonly kind: "time"; readonly timestampMs: number };

const agoText = /^(\d+(?:\.\d+)?)(s|m|h|d)$/;
const unitMs: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 };
const isoText = /^\d{4}-\d{2}-\d{2}/;

/**
 * `earliest`, `latest`, an offset (`1200`), a time in ISO 8601 (`2026-11-22T08:00:00Z`) or so long ago (`2h`).
 * @throws InvalidArgumentError for anything else
 */
export function parseOffsetTarget(text: string, nowMs: () => number = Date.now): OffsetTarget {
  if (text === "earliest" || text === "latest") {
    return { kind: text };
  }
  if (/^\d+$/.test(text)) {
    return { kind: "offset", offset: BigInt(text) };
  }
  const [, amount, unit = ""] = agoText.exec(text) ?? [];
  if (amount !== undefined) {
    return { kind: "time", timestampMs: Math.trunc(nowMs() - Number(amount) * (unitMs[unit] ?? 0)) };
  }
  const timestampMs = isoText.test(text) ? Date.parse(text) : Number.NaN;
  if (!(timestampMs >= 0)) {
    throw new InvalidArgumentError(
      "It must be earliest, latest, an offset, a time such as 2026-11-22T08:00:00Z, or a time back such as 2h.",
    );
  }
  return { kind: "time", timestampMs };
}
