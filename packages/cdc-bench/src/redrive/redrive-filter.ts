import type { DeadLetterOrigin } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { InvalidArgumentError } from "commander";

/** Which dead letters are meant. Several topics or codes: any of them. */
export interface RedriveFilter {
  readonly topics: readonly string[];
  readonly codes: readonly string[];
  /** Milliseconds since the epoch: not before. */
  readonly sinceMs: number | null;
  /** Not at or after. */
  readonly untilMs: number | null;
}

export const everything: RedriveFilter = Object.freeze({ topics: [], codes: [], sinceMs: null, untilMs: null });

/** One `--filter`, added to those before it: `topic=orders`, `code=malformed`, `since=2026-01-31T08:00:00Z`, `until=...`. */
export function collectFilter(text: string, before: RedriveFilter = everything): RedriveFilter {
  const at = text.indexOf("=");
  const value = text.slice(at + 1);
  const name = at === -1 || value === "" ? "" : text.slice(0, at);
  switch (name) {
    case "topic":
      return { ...before, topics: [...before.topics, value] };
    case "code":
      return { ...before, codes: [...before.codes, value] };
    case "since":
      return { ...before, sinceMs: momentOf(value) };
    case "until":
      return { ...before, untilMs: momentOf(value) };
    default:
      throw new InvalidArgumentError("It must be topic=NAME, code=CODE, since=TIME or until=TIME.");
  }
}

function momentOf(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new InvalidArgumentError("It must be a time in ISO 8601, such as 2026-01-31T08:00:00Z.");
  }
  return ms;
}

/** Whether a filter asks why or when a record failed: a parked record did not fail itself, and cannot answer. */
export function asksOfFailure({ codes, sinceMs, untilMs }: RedriveFilter): boolean {
  return codes.length > 0 || sinceMs !== null || untilMs !== null;
}

export function matches({ topics, codes, sinceMs, untilMs }: RedriveFilter, record: KafkaRecord, origin: DeadLetterOrigin): boolean {
  const diedMs = diedAtMs(record);
  return (
    (topics.length === 0 || topics.includes(origin.topic)) &&
    (codes.length === 0 || codesOf(origin).some((code) => codes.includes(code))) &&
    (sinceMs === null || diedMs >= sinceMs) &&
    (untilMs === null || diedMs < untilMs)
  );
}

/** What a failure may be called by: our code, the code of what was thrown, its name, and a Java class's name without its package. */
export function codesOf({ exception: { name, message } }: DeadLetterOrigin): readonly string[] {
  const own = /^\[([a-z0-9-]+)\]/.exec(message ?? "")?.[1];
  const thrown = /\(code ([^()\s]+)\)$/.exec(message ?? "")?.[1];
  return [own, thrown, name, name?.split(".").at(-1)].filter((code) => typeof code === "string");
}

/**
 * When it became a dead letter. If its writer did not say: the record's own time. Spring Kafka's records have the time of becoming one, and Kafka Connect's
 * the time of the record that failed (unless the topic has `LogAppendTime`): nothing else in them says when.
 */
function diedAtMs({ headers, timestamp }: KafkaRecord): number {
  const bytes = headers.findLast(([name]) => name === "cdckit.timestamp")?.[1];
  return Number(bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : timestamp);
}
