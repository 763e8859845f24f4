import type { RetriedWork } from "../observe/waits.ts";
import type { FailureKind } from "./classify.ts";

/** How a failed attempt is repeated. */
export interface RetryPolicy {
  /** Attempts in all, the first one included. */
  readonly attempts: number;
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  readonly factor: number;
  readonly jitter: "full" | "none";
}

/** What has been tried with one record so far. */
export interface Tries {
  /** Attempts that failed, without those that are counted in `outages`. */
  failures: number;
  /** Attempts that failed because something could not be asked. They say nothing about the record, and use up none of its attempts. */
  outages: number;
  /** When the first of the failures was, by the clock that only goes forward. */
  firstFailedMs: number;
  /** Open from the first failure until an attempt succeeds, or the record is dealt with in another way. */
  wait: RetriedWork | null;
}

/** Before the first attempt. */
export function noTries(): Tries {
  return { failures: 0, outages: 0, firstFailedMs: 0, wait: null };
}

/** What becomes of a record after a failed attempt. */
export type PolicyDecision = { readonly kind: "retry"; readonly delayMs: number } | { readonly kind: "poison" } | { readonly kind: "halt" };

const halt: PolicyDecision = Object.freeze({ kind: "halt" });
const poison: PolicyDecision = Object.freeze({ kind: "poison" });

export interface DecisionPolicy {
  readonly retry: RetryPolicy;
  readonly unknownSchemaGraceMs: number;
}

/** How long to wait before the next attempt. `random` gives numbers from 0 to below 1. */
export function backOffMs({ initialDelayMs, maxDelayMs, factor, jitter }: RetryPolicy, failures: number, random: () => number): number {
  const ceiling = Math.min(maxDelayMs, initialDelayMs * factor ** (failures - 1));
  return jitter === "full" ? random() * ceiling : ceiling;
}

/** What becomes of a record whose latest attempt, counted in `tries`, failed in this way. */
export function decideAfter(kind: FailureKind, tries: Tries, nowMs: number, policy: DecisionPolicy, random: () => number): PolicyDecision {
  const attempts = kind === "outage" ? tries.outages : tries.failures;
  const retry = (): PolicyDecision => ({ kind: "retry", delayMs: backOffMs(policy.retry, attempts, random) });
  switch (kind) {
    case "outage":
      return retry();
    case "unknown-schema":
      return nowMs - tries.firstFailedMs < policy.unknownSchemaGraceMs ? retry() : poison;
    case "permanent":
      return halt;
    case "transient":
      // Never set aside: that would divert record after record while a database is down.
      return tries.failures < policy.retry.attempts ? retry() : halt;
    case "unclear":
      return tries.failures < policy.retry.attempts ? retry() : poison;
    case "poison":
      return poison;
  }
}

/** How many attempts this kind of failure allows in all. Null if time decides, or nothing does. */
export function attemptsOf(kind: FailureKind, { retry }: DecisionPolicy): number | null {
  return kind === "outage" || kind === "unknown-schema" ? null : retry.attempts;
}
