import { InvalidArgumentError } from "commander";
import type { CodecMeasure } from "./measure-codecs.ts";

const linkText = /^(\d+(?:\.\d+)?)\s*(k|m|g)bit(?:\/s)?$/i;
const bits: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9 };

/** `100mbit`, `1gbit`: bits a second. */
export function parseLink(text: string): number {
  const [, amount, unit] = linkText.exec(text) ?? [];
  const bitsPerSecond = Number(amount) * (bits[unit?.toLowerCase() ?? ""] ?? Number.NaN);
  if (!(bitsPerSecond > 0)) {
    throw new InvalidArgumentError("It must be the rate of a link, such as 100mbit or 1gbit.");
  }
  return bitsPerSecond;
}

/** How long a link takes for so many bytes, in milliseconds. Latency and headers of packets are not counted. */
export function transportMs(sizeBytes: number, bitsPerSecond: number): number {
  return (sizeBytes * 8 * 1e3) / bitsPerSecond;
}

/** Writing and reading together, in milliseconds; null for a codec that only reads. */
export function processingMs({ write, read }: CodecMeasure): number | null {
  return write === null ? null : write.ms.median + read.ms.median;
}

/**
 * The rate of the link at which both take equally long, in bits a second: below it the smaller one wins, above it the one that costs less
 * time. Null if one wins at every rate.
 */
export function turnOver(one: CodecMeasure, other: CodecMeasure): number | null {
  const [oneMs, otherMs] = [processingMs(one), processingMs(other)];
  if (oneMs === null || otherMs === null) {
    return null;
  }
  const bitsPerSecond = ((one.sizeBytes - other.sizeBytes) * 8 * 1e3) / (otherMs - oneMs);
  return Number.isFinite(bitsPerSecond) && bitsPerSecond > 0 ? bitsPerSecond : null;
}
