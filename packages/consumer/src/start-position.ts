import type { StartPosition } from "./driver.ts";
import { isPartition } from "./partition-number.ts";
import { ConsumerError } from "./errors.ts";
import { checkMembers } from "./option-checks.ts";

/** An offset: a bigint, or a number or a text of digits, as configuration files have it. */
export type OffsetOption = bigint | number | string;

/** Where partitions start if the group has no committed offset. */
export type StartOption =
  | "earliest"
  | "latest"
  /** At the first record of this time or later: a date, milliseconds since the epoch, or an ISO text. The end, if there is none. */
  | { readonly timestamp: Date | number | bigint | string }
  /** This long before the start of the consumer: `"90s"`, `"15m"`, `"2h"`, `"7d"`, or milliseconds. */
  | { readonly ago: string | number }
  /**
   * By topic and partition. Partitions that are left out start at the earliest record. An offset that the log does not have is a lost
   * range.
   */
  | { readonly offsets: Readonly<Record<string, Readonly<Record<number, OffsetOption>>>> };

/** The same, checked. What is relative to the start is a duration. */
export type ResolvedStart = StartPosition | { readonly agoMs: number };

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const forms = '"earliest", "latest", { timestamp }, { ago: "2h" } or { offsets: { topic: { partition: offset } } }';

export function resolveStartOption(option: StartOption): ResolvedStart {
  if (option === "earliest" || option === "latest") {
    return option;
  }
  if (typeof option !== "object" || option === null) {
    throw invalid(typeof option === "string" ? JSON.stringify(option) : String(option));
  }
  checkMembers("from", option, ["timestamp", "ago", "offsets"]);
  if (Object.keys(option).length !== 1) {
    throw invalid(`an object with ${Object.keys(option).join(" and ") || "nothing"}`);
  }
  if ("timestamp" in option) {
    return { timestamp: timestampOf(option.timestamp) };
  }
  return "ago" in option ? { agoMs: durationOf(option.ago) } : { offsets: offsetsOf(option.offsets) };
}

/** The position of a consumer that starts at this time. */
export function startPositionAt(start: ResolvedStart, wallMs: number): StartPosition {
  return typeof start === "object" && "agoMs" in start ? { timestamp: BigInt(Math.max(0, Math.trunc(wallMs - start.agoMs))) } : start;
}

/** Between 1970-01-02 and 1973-03-03 in milliseconds: no topic is that old. In seconds, it is between 1973 and 5138. */
const secondsRange = [10n ** 8n, 10n ** 11n] as const;
/** After the year 5138 in milliseconds. In microseconds, it is after 1973. */
const minMicros = 10n ** 14n;

/**
 * What to warn of: a number of another unit is a time, too, and would be read from the first record, or past the last one, without a word. Null if
 * the time may be meant. Zero is: it stands for the beginning.
 */
export function doubtedUnit(start: ResolvedStart): string | null {
  if (typeof start !== "object" || !("timestamp" in start)) {
    return null;
  }
  const { timestamp } = start;
  const [from, to] = secondsRange;
  const isSeconds = timestamp >= from && timestamp < to;
  if (!isSeconds && timestamp < minMicros) {
    return null;
  }
  const [unit, where] = isSeconds ? ["seconds", "at their first record"] : ["microseconds, or nanoseconds", "at their end"];
  return `from.timestamp is in milliseconds since the epoch, and ${timestamp} looks like ${unit}: partitions without a commit start ${where}`;
}

/** Kafka keeps offsets, and times in milliseconds, in 64 bits with a sign: a client fails at a higher one, in words of its own. */
function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** The offset. If the value is none, it throws a `ConsumerError` that names the option. */
export function offsetOf(path: string, offset: unknown): bigint {
  const isOffset =
    (typeof offset === "bigint" && offset >= 0n && isInt64(offset)) ||
    (typeof offset === "number" && Number.isSafeInteger(offset) && offset >= 0) ||
    (typeof offset === "string" && /^0*\d{1,19}$/.test(offset) && isInt64(BigInt(offset))); // files of a log are called 00000000000000000042
  if (!isOffset) {
    throw new ConsumerError(
      "invalid-option",
      `${path} must be an offset from 0 to 2^63-1, got ${typeof offset === "string" ? JSON.stringify(offset) : String(offset)}`,
    );
  }
  return BigInt(offset);
}

function timestampOf(given: Date | number | bigint | string): bigint {
  if (typeof given === "bigint" && given >= 0n && isInt64(given)) {
    return given;
  }
  const ms = given instanceof Date ? given.getTime() : typeof given === "string" ? Date.parse(given) : given;
  if (typeof ms !== "number" || !(ms >= 0) || ms >= 2 ** 63) {
    throw new ConsumerError(
      "invalid-option",
      `from.timestamp must be a date, milliseconds since the epoch or an ISO text, got ${String(given)}`,
    );
  }
  return BigInt(Math.trunc(ms));
}

function durationOf(given: string | number): number {
  if (typeof given === "number" && Number.isFinite(given) && given >= 0) {
    return given;
  }
  const [, amount, unit = ""] = (typeof given === "string" ? /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(given.trim()) : null) ?? [];
  const factor = unitMs[unit];
  if (amount === undefined || factor === undefined) {
    throw new ConsumerError(
      "invalid-option",
      `from.ago must be a duration such as "90s", "15m", "2h" or "7d", or milliseconds, got ${String(given)}`,
    );
  }
  return Number(amount) * factor;
}

function offsetsOf(given: unknown): Readonly<Record<string, Readonly<Record<number, bigint>>>> {
  if (typeof given !== "object" || given === null) {
    throw invalid("offsets that are no object");
  }
  return Object.fromEntries(
    Object.entries(given).map(([topic, partitions]) => {
      if (typeof partitions !== "object" || partitions === null) {
        throw invalid(`offsets of ${topic} that are no object`);
      }
      const offsets = Object.entries(partitions as object).map(([partition, offset]) => {
        if (!/^\d+$/.test(partition) || !isPartition(Number(partition))) {
          throw invalid(`a partition ${JSON.stringify(partition)} of ${topic}`);
        }
        return [partition, offsetOf(`from.offsets.${topic}[${partition}]`, offset)];
      });
      return [topic, Object.fromEntries(offsets) as Record<number, bigint>];
    }),
  );
}

function invalid(found: string): ConsumerError {
  return new ConsumerError("invalid-option", `from must be ${forms}, got ${found}`);
}
