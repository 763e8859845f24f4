import { check, checkChoice, checkCount, checkDelay, checkMembers, checkNumber, givenOf } from "../option-checks.ts";
import { ConsumerError } from "../errors.ts";
import type { LostRangePolicy, TopicCreation } from "../driver.ts";
import { isPartition, maxPartition } from "../partition-number.ts";
import type { RecordName } from "../skipped-records.ts";
import { type OffsetOption, offsetOf } from "../start-position.ts";
import type { BreakerPolicy } from "./breaker.ts";
import type { IsRetriable } from "./classify.ts";
import type { RetryPolicy } from "./retry-policy.ts";

/** How often, and with which pauses, a record is tried again. */
export interface RetryOptions {
  /**
   * How often a record is attempted, the first time included.
   * @default 5
   */
  readonly attempts?: number;
  /**
   * The delay after the first failure, in milliseconds. `factor` makes it longer each time, and `jitter` takes a random part of it.
   * @default 100
   */
  readonly initialDelayMs?: number;
  /**
   * The longest delay, in milliseconds.
   * @default 10_000
   */
  readonly maxDelayMs?: number;
  /**
   * Each delay is so many times longer than the one before.
   * @default 2
   */
  readonly factor?: number;
  /**
   * `"full"`: a random time between zero and the delay, so that members that failed together do not retry together.
   * @default "full"
   */
  readonly jitter?: "full" | "none";
}

/** When failures look systemic, so that the consumer halts. */
export interface BreakerOptions {
  /**
   * The share of the last 1,000 records that may be set aside. Fewer than 1,000 that were read count as 1,000: by default, the eleventh
   * record that is set aside halts the consumer.
   * @default 0.01
   */
  readonly maxShare?: number;
  /**
   * How many records in a row may be set aside. Whichever limit is passed first counts: this one does if it is below 1,000 times `maxShare`,
   * and so, by default, only after `maxShare` was raised above 0.1.
   * @default 100
   */
  readonly maxInARow?: number;
}

/** A record by its place. */
export interface SkippedRecord {
  /** The name of the topic, as the brokers have it. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The offset of the record, as a bigint, as a safe integer or as its decimal text. */
  readonly offset: OffsetOption;
}

/** What becomes of records that fail, and of records that the log does not have any more. */
export interface FailureOptions {
  /**
   * A record that failed is retried in its place: records that must come after it wait, and others do not. Some errors show that a retry
   * gives the same error (a `TypeError`, a violated constraint, bytes that do not decode): these are not retried. `false`: none is retried.
   * If a registry cannot be asked, the consumer waits for it in any case.
   * @default those of its members
   */
  readonly retry?: RetryOptions | false;
  /**
   * What becomes of a record that cannot be decoded or handled. `"halt"`: the consumer stops before it, and `run()` rejects.
   * `"dead-letter"`: the record is written to `deadLetterTopic`, and counts as handled when every replica has it. `"park-key"`: the same,
   * and later records of its key follow it without an attempt while the partition is held, so that a redrive finds them in order.
   * Infrastructure failures (network, time-outs, a registry or a database that is down) never create dead letters.
   * @default "halt"
   */
  readonly poison?: "halt" | "dead-letter" | "park-key";
  /**
   * The topic of dead letters. Required with `poison: "dead-letter"` and `"park-key"`. Refused with `"halt"`, as are `createDeadLetterTopic`,
   * `breaker` (except `false`) and `maxParkedKeys`. `topics` must not match it. The start checks it: `run()` rejects if it does not exist and
   * `createDeadLetterTopic` does not create it.
   */
  readonly deadLetterTopic?: string;
  /**
   * Creates `deadLetterTopic` at the start if it does not exist. An object says with how many partitions and replicas.
   * @default false
   */
  readonly createDeadLetterTopic?: boolean | TopicCreation;
  /**
   * When too many records that are set aside look like a systemic failure, the consumer halts. `false`: never.
   * @default those of its members
   */
  readonly breaker?: BreakerOptions | false;
  /**
   * With `"park-key"`, and refused without it: if more keys than this are parked, the consumer halts.
   * @default 1_000
   */
  readonly maxParkedKeys?: number;
  /**
   * How long the consumer waits for a schema id that the registry does not know. After that, the record counts as one that cannot be
   * decoded.
   * @default 60_000
   */
  readonly unknownSchemaGraceMs?: number;
  /**
   * Records to skip, each by its place. They are committed without being read, logged as a warning, and counted
   * (`health().counts.skipped`). Use this for a record that nothing else helps with, and remove it when the group has passed the record.
   * @default []
   */
  readonly skip?: readonly SkippedRecord[];
  /**
   * Asked first about what handlers, validators and sinks throw. `undefined` leaves the decision to the table of errors: return it for every
   * error that you do not know. `true`: it is retried, also if the table says that the record is to blame. `false`: it is poison at once,
   * also a connection that was refused. A registry, or a sink that says that its store cannot be reached, is waited for in any case.
   */
  readonly isRetriable?: IsRetriable;
  /**
   * Where a partition goes on when records are gone that the group, or a sink, has not handled: retention has deleted them, or the topic
   * was deleted and created again. `"halt"`: the consumer stops, and `run()` rejects with an error whose `lost` says what is gone.
   * `"earliest"`: at the first record that is there; of a recreated topic, the first record of the new one. `"latest"`: at the end. Each
   * range is logged, counted, and published on `cdckit:consumer:lost-range`. A log that was truncated halts the consumer with every choice.
   * @default "halt"
   */
  readonly lostRange?: LostRangePolicy;
}

export interface ResolvedFailureOptions {
  readonly retry: RetryPolicy;
  readonly poison: "halt" | "dead-letter" | "park-key";
  readonly deadLetterTopic: string | null;
  readonly createDeadLetterTopic: TopicCreation | null;
  readonly breaker: BreakerPolicy | null;
  readonly maxParkedKeys: number;
  readonly unknownSchemaGraceMs: number;
  readonly skip: readonly RecordName[];
  readonly isRetriable: IsRetriable | undefined;
  readonly lostRange: LostRangePolicy;
}

const retryDefaults: RetryPolicy = Object.freeze({ attempts: 5, initialDelayMs: 100, maxDelayMs: 10_000, factor: 2, jitter: "full" });
const breakerDefaults: BreakerPolicy = Object.freeze({ maxShare: 0.01, maxInARow: 100 });

const members = [
  "retry",
  "poison",
  "deadLetterTopic",
  "createDeadLetterTopic",
  "breaker",
  "maxParkedKeys",
  "unknownSchemaGraceMs",
  "isRetriable",
  "lostRange",
  "skip",
];

/** Every option present and checked. */
export function resolveFailureOptions(options: FailureOptions = {}): ResolvedFailureOptions {
  checkMembers("failure", options, members);
  const { poison = "halt", maxParkedKeys = 1_000, unknownSchemaGraceMs = 60_000, isRetriable, lostRange = "halt" } = options;
  checkChoice("failure.poison", poison, ["halt", "dead-letter", "park-key"]);
  checkCount("failure.maxParkedKeys", maxParkedKeys);
  checkNumber("failure.unknownSchemaGraceMs", unknownSchemaGraceMs, 0, Number.MAX_SAFE_INTEGER);
  checkChoice("failure.lostRange", lostRange, ["halt", "earliest", "latest"]);
  check(isRetriable === undefined || typeof isRetriable === "function", "failure.isRetriable", "a function", isRetriable);
  return Object.freeze({
    retry: resolveRetry(options.retry),
    poison,
    deadLetterTopic: deadLetterTopicOf(poison, options),
    createDeadLetterTopic: resolveCreation(options.createDeadLetterTopic),
    breaker: resolveBreaker(options.breaker),
    maxParkedKeys,
    unknownSchemaGraceMs,
    skip: resolveSkip(options.skip),
    isRetriable,
    lostRange,
  });
}

function resolveSkip(skip: readonly SkippedRecord[] = []): readonly RecordName[] {
  check(Array.isArray(skip), "failure.skip", "an array of { topic, partition, offset }", skip);
  return skip.map((record, i) => {
    const path = `failure.skip[${i}]`;
    checkMembers(path, record, ["topic", "partition", "offset"]);
    const { topic, partition } = record;
    check(typeof topic === "string" && topic !== "", `${path}.topic`, "the name of a topic", topic);
    check(isPartition(partition), `${path}.partition`, `the number of a partition, from 0 to ${maxPartition}`, partition);
    return Object.freeze({ topic, partition, offset: offsetOf(`${path}.offset`, record.offset) });
  });
}

function resolveRetry(retry: RetryOptions | false = {}): RetryPolicy {
  if (retry === false) {
    return Object.freeze({ ...retryDefaults, attempts: 1 });
  }
  checkMembers("failure.retry", retry, Object.keys(retryDefaults));
  const resolved: RetryPolicy = { ...retryDefaults, ...givenOf(retry) };
  checkCount("failure.retry.attempts", resolved.attempts);
  checkDelay("failure.retry.initialDelayMs", resolved.initialDelayMs, 0);
  checkDelay("failure.retry.maxDelayMs", resolved.maxDelayMs, 0);
  checkNumber("failure.retry.factor", resolved.factor, 1, 100);
  checkChoice("failure.retry.jitter", resolved.jitter, ["full", "none"]);
  if (resolved.initialDelayMs > resolved.maxDelayMs) {
    throw new ConsumerError(
      "invalid-option",
      `failure.retry.initialDelayMs (${resolved.initialDelayMs}) is above failure.retry.maxDelayMs (${resolved.maxDelayMs}); raise maxDelayMs or lower initialDelayMs`,
    );
  }
  return Object.freeze(resolved);
}

function resolveBreaker(breaker: BreakerOptions | false = {}): BreakerPolicy | null {
  if (breaker === false) {
    return null;
  }
  checkMembers("failure.breaker", breaker, Object.keys(breakerDefaults));
  const resolved: BreakerPolicy = { ...breakerDefaults, ...givenOf(breaker) };
  checkNumber("failure.breaker.maxShare", resolved.maxShare, 0, 1);
  checkCount("failure.breaker.maxInARow", resolved.maxInARow);
  return Object.freeze(resolved);
}

function resolveCreation(creation: boolean | TopicCreation = false): TopicCreation | null {
  if (typeof creation === "boolean") {
    return creation ? Object.freeze({}) : null;
  }
  checkMembers("failure.createDeadLetterTopic", creation, ["partitions", "replicationFactor"]);
  for (const name of ["partitions", "replicationFactor"] as const) {
    if (creation[name] !== undefined) {
      checkCount(`failure.createDeadLetterTopic.${name}`, creation[name]);
    }
  }
  return Object.freeze({ ...creation });
}

function deadLetterTopicOf(
  poison: FailureOptions["poison"],
  { deadLetterTopic, createDeadLetterTopic, breaker, maxParkedKeys }: FailureOptions,
): string | null {
  const isName = typeof deadLetterTopic === "string" && deadLetterTopic !== "";
  check(deadLetterTopic === undefined || isName, "failure.deadLetterTopic", "the name of a topic", deadLetterTopic);
  if (poison === "halt") {
    const idle = Object.entries({
      deadLetterTopic,
      createDeadLetterTopic,
      breaker: breaker === false ? undefined : breaker,
      maxParkedKeys,
    });
    const name = idle.find(([, value]) => value !== undefined)?.[0];
    if (name !== undefined) {
      throw new ConsumerError(
        "invalid-option",
        `failure.${name} has nothing to do while failure.poison is "halt"; set poison to "dead-letter" or "park-key", or leave ${name} out`,
      );
    }
    return null;
  }
  if (poison === "dead-letter" && maxParkedKeys !== undefined) {
    throw new ConsumerError(
      "invalid-option",
      'failure.maxParkedKeys has nothing to do while failure.poison is "dead-letter", which parks no key; set poison to "park-key", or leave maxParkedKeys out',
    );
  }
  if (!isName) {
    throw new ConsumerError(
      "invalid-option",
      `failure.poison ${JSON.stringify(poison)} needs failure.deadLetterTopic: the name of a topic`,
    );
  }
  return deadLetterTopic;
}
