import type { DeliveryOptions, FailureOptions } from "@cdckit/consumer";
import type { BrokerFault } from "@cdckit/testkit";
import { Draw } from "./draw.ts";

/** What becomes of a record. */
export type Fate =
  | "fine"
  /** No handler asks for its table. */
  | "filtered"
  /** It holds no event. */
  | "empty"
  /** It holds two events. */
  | "double"
  /** It holds a truncate, which fails once: it concerns every key. */
  | "truncate"
  | "fails-once"
  | "fails-twice"
  /** Fails once with an error that is known to pass. */
  | "transient"
  /** Never handled, and only so many attempts tell. */
  | "poison"
  /** Never handled, and the first attempt tells. */
  | "mistake"
  /** Does not decode. */
  | "broken"
  /** Its schema must be fetched first. */
  | "late-schema"
  /** The same, and the registry may be down. */
  | "needs-registry"
  /** The registry does not know its schema for a while. */
  | "unknown-at-first"
  /** The registry never knows its schema. */
  | "never-known";

/** Those that are set aside in the end, or halt the consumer. */
export const poisonous: ReadonlySet<Fate> = new Set<Fate>(["poison", "mistake", "broken", "never-known"]);

export interface PlannedRecord {
  readonly id: number;
  readonly partition: number;
  /** 0 is none. */
  readonly key: number;
  readonly fate: Fate;
  /** It leaves a gap in front of it. */
  readonly gap: number;
}

/** What happens at a moment. */
export type Step = { readonly atMs: number } & (
  | { readonly what: "append"; readonly records: readonly PlannedRecord[] }
  | { readonly what: "transaction"; readonly records: readonly PlannedRecord[]; readonly forMs: number; readonly end: "commit" | "abort" }
  | { readonly what: "join" | "leave" | "crash" | "expire" | "bounce" | "replace-all"; readonly who: number }
  | { readonly what: "evict" | "freeze"; readonly who: number; readonly forMs: number }
  | { readonly what: "fault"; readonly fault: Pick<BrokerFault, "on" | "how" | "times">; readonly forMs: number }
  | { readonly what: "registry-down"; readonly forMs: number }
  | { readonly what: "sink-down"; readonly forMs: number }
  /** The topic is deleted and created again, and these are its first records then. */
  | { readonly what: "recreate"; readonly records: readonly PlannedRecord[] }
  /** `"downtime"`: everybody is gone for longer than records are kept. */
  | { readonly what: "retention" | "downtime" | "compaction"; readonly partition: number }
);

/** How records are handled: by what, and what besides. */
export type Reads = "handlers" | "batches" | "stream" | "sink" | "two-sinks" | "sink-and-handlers" | "pipe";

export interface Plan {
  readonly seed: number;
  readonly reads: Reads;
  readonly partitions: number;
  readonly rebalance: "cooperative" | "eager";
  readonly rebalanceTimeoutMs: number;
  readonly maxBatchRecords: number;
  readonly workers: number;
  readonly turnMs: number;
  readonly delivery: DeliveryOptions & { readonly concurrency: number; readonly order: "key" | "partition" | "none" };
  readonly failure: FailureOptions & { readonly poison: "halt" | "dead-letter" | "park-key" };
  readonly shutdownTimeoutMs: number;
  /** What the n-th call of a handler or a sink takes, in rotation; 0 is at once. */
  readonly delaysMs: readonly number[];
  /** A member is stopped from within this call of a handler. */
  readonly stopAtCall: number | null;
  /** Schemas that come late are known so long after the record. */
  readonly unknownForMs: number;
  readonly steps: readonly Step[];
  /** From here on nothing is disturbed any more. */
  readonly quietAtMs: number;
  /** Nothing of this partition is handled before a long while after that: a handler hangs, or a sink. Null where none is stalled. */
  readonly stalledPartition: number | null;
  /** Members have sessions and beat; without one, nobody is frozen either. */
  readonly sessionTimeoutMs: number;
}

/** A partition that is stalled goes on so long after the last disturbance. */
export const stallMs = 50_000;

/** From when on nothing is disturbed, and nothing stalled. */
export function calmFromMs({ quietAtMs, stalledPartition }: Plan): number {
  return quietAtMs + (stalledPartition === null ? 0 : stallMs);
}

/** The attempts at a record; more than any that does not stay failed needs. */
const attempts = 3;

/** The schedule of a seed. */
export function planOf(seed: number): Plan {
  const draw = new Draw(seed);
  const isCalm = draw.chance(0.25);
  const reads = draw.pick<Reads>("handlers", "handlers", "handlers", "batches", "stream", "sink", "two-sinks", "sink-and-handlers");
  const partitions = draw.integer(1, 4);
  const failure = failureOf(draw);
  const lengthMs = draw.pick(20, 100, 400);
  const appends = appendsOf(draw, partitions, lengthMs, failure.poison === "halt" && draw.chance(0.85));
  const disturbances = draw.list(draw.integer(0, isCalm ? 3 : 7), () =>
    isCalm ? calmStep(draw, lengthMs) : wildStep(draw, lengthMs, partitions),
  );
  const steps = [...appends, ...disturbances].sort((a, b) => a.atMs - b.atMs);
  const plan: Omit<Plan, "stalledPartition" | "sessionTimeoutMs"> = {
    seed,
    reads,
    partitions,
    rebalance: draw.pick("cooperative", "eager"),
    rebalanceTimeoutMs: isCalm ? Infinity : draw.pick(Infinity, Infinity, 200, 30),
    maxBatchRecords: draw.integer(1, 12),
    workers: draw.pick(1, 1, 2, 4),
    turnMs: draw.pick(0, 0.05, 0.3),
    delivery: deliveryOf(draw),
    failure,
    shutdownTimeoutMs: isCalm ? 10_000 : draw.pick(10_000, 10_000, 1_000, 40),
    delaysMs: draw.list(draw.integer(1, 8), () => draw.pick(0, 0, 0, 0, 1, 5, 40)),
    stopAtCall: draw.chance(0.15) ? draw.integer(1, 20) : null,
    unknownForMs: draw.integer(1, 100),
    steps,
    quietAtMs: endOf(steps),
  };
  // Memory that is full holds up everybody, and the reader of a stream is one for all partitions.
  const canStall = !isCalm && plan.delivery.maxInFlightBytes === undefined && reads !== "stream";
  // Drawn last, so that the rest of a seed's plan is as it was.
  const stalledPartition = canStall && draw.chance(0.15) ? draw.integer(0, partitions - 1) : null;
  const whole: Plan = withTruncates({ ...plan, stalledPartition, sessionTimeoutMs: Infinity });
  if (isCalm || stalledPartition !== null || !draw.chance(0.1)) {
    return withLostAnswers(withSessions(draw, withPipe(draw, whole), lengthMs));
  }
  return withSteps(whole, [recreationOf(draw, partitions, lengthMs)]);
}

/** In some, records that would be handled are truncates. They are drawn apart, so that the rest of a seed's plan is as it was. */
function withTruncates(plan: Plan): Plan {
  const draw = new Draw(plan.seed + truncateSeed);
  const hasLanes = plan.delivery.order === "key" && plan.delivery.concurrency > 1;
  if (!hasLanes || !draw.chance(0.2)) {
    return plan;
  }
  const withTruncate = (record: PlannedRecord): PlannedRecord =>
    record.fate === "fine" && draw.chance(0.3) ? { ...record, fate: "truncate" } : record;
  const steps = plan.steps.map((step) => ("records" in step ? { ...step, records: step.records.map(withTruncate) } : step));
  return { ...plan, steps };
}

const truncateSeed = 1_000_000_007;

/** More records than what members have read by then may be, or fewer. */
function recreationOf(draw: Draw, partitions: number, lengthMs: number): Step {
  const firstId = 1_000;
  const traits = { partitions, keys: 3, isRough: false, isSound: true };
  const records = draw.list(draw.pick(0, 4, 20, 40), (at) => plannedRecord(draw, { id: firstId + at, ...traits }));
  return { atMs: draw.integer(0, lengthMs + 50), what: "recreate", records };
}

/** Some pass everything on in transactions. */
function withPipe(draw: Draw, plan: Plan): Plan {
  if (!draw.chance(0.12)) {
    return plan;
  }
  const transactions = draw.list(draw.integer(0, 3), (): Step => {
    const how = draw.pick<BrokerFault["how"]>("fails", { lateMs: draw.integer(1, 60) }, { lateMs: draw.integer(1, 60) });
    return {
      atMs: draw.integer(0, 100),
      what: "fault",
      fault: { on: "transact", how, times: draw.integer(1, 4) },
      forMs: draw.integer(1, 100),
    };
  });
  return withSteps({ ...plan, reads: "pipe" }, transactions);
}

/** In some of those, transactions are carried out, and nobody is told. They are drawn apart, so that the rest of a seed's plan is as it was. */
function withLostAnswers(plan: Plan): Plan {
  const draw = new Draw(plan.seed + lostAnswerSeed);
  if (plan.reads !== "pipe" || !draw.chance(0.4)) {
    return plan;
  }
  const faults = draw.list(draw.integer(1, 3), (): Step => {
    return {
      atMs: draw.integer(0, 100),
      what: "fault",
      fault: { on: "transact", how: "answer-lost", times: draw.integer(1, 4) },
      forMs: draw.integer(1, 100),
    };
  });
  return withSteps(plan, faults);
}

const lostAnswerSeed = 2_000_000_011;

/** In some, a process that is frozen for longer than its session is taken out of the group. */
function withSessions(draw: Draw, plan: Plan, lengthMs: number): Plan {
  if (!draw.chance(0.2)) {
    return plan;
  }
  const freezes = draw.list(draw.integer(1, 3), (): Step => {
    return { atMs: draw.integer(0, lengthMs), what: "freeze", who: draw.integer(0, 9), forMs: draw.integer(5, 250) };
  });
  return withSteps({ ...plan, sessionTimeoutMs: 60 }, freezes);
}

function withSteps(plan: Plan, more: readonly Step[]): Plan {
  const steps = [...plan.steps, ...more].sort((a, b) => a.atMs - b.atMs);
  return { ...plan, steps, quietAtMs: endOf(steps) };
}

function endOf(steps: readonly Step[]): number {
  return Math.max(0, ...steps.map((step) => step.atMs + ("forMs" in step ? step.forMs : 0))) + 1;
}

function deliveryOf(draw: Draw): Plan["delivery"] {
  return {
    order: draw.pick("key", "key", "key", "partition", "none"),
    concurrency: draw.pick(1, 1, 2, 4, draw.integer(1, 256)),
    commitIntervalMs: draw.pick(5, 20, 100, 1_000),
    maxOutOfOrder: draw.pick(1, 3, 20, 10_000),
    ...(draw.chance(0.3) ? { maxInFlight: draw.integer(1, 4) } : {}),
    ...(draw.chance(0.3) ? { maxInFlightBytes: draw.integer(1, 40) } : {}),
    ...(draw.chance(0.3) ? { batch: { maxEvents: draw.integer(1, 6), maxMs: draw.pick(1, 50) } } : {}),
  };
}

function failureOf(draw: Draw): Plan["failure"] {
  const retry = { attempts, initialDelayMs: draw.pick(1, 10), maxDelayMs: 40 };
  const poison = draw.pick("halt", "dead-letter", "dead-letter", "park-key", "park-key");
  const lostRange = draw.pick("halt", "halt", "earliest", "latest");
  return poison === "halt"
    ? { poison, retry, unknownSchemaGraceMs: 150, lostRange }
    : {
        poison,
        retry,
        unknownSchemaGraceMs: 150,
        lostRange,
        deadLetterTopic: "dead",
        breaker: draw.chance(0.1) ? { maxInARow: 2, maxShare: 1 } : false,
        ...(poison === "park-key" && draw.chance(0.1) ? { maxParkedKeys: 1 } : {}),
      };
}

/** Records, a few at a time. */
function appendsOf(draw: Draw, partitions: number, lengthMs: number, isSound: boolean): Step[] {
  const total = draw.integer(1, 24);
  const keys = draw.pick(1, 3, 6);
  const isRough = draw.chance(0.5);
  const steps: Step[] = [];
  for (let id = 0; id < total; ) {
    const count = Math.min(total - id, draw.pick(1, 4, 12));
    const records = draw.list(count, (at) => plannedRecord(draw, { id: id + at, partitions, keys, isRough, isSound }));
    const atMs = draw.chance(0.3) ? 0 : draw.integer(0, lengthMs);
    steps.push(
      draw.chance(0.15)
        ? { atMs, what: "transaction", records, forMs: draw.integer(0, 60), end: draw.pick("commit", "abort") }
        : { atMs, what: "append", records },
    );
    id += count;
  }
  return steps;
}

interface RecordTraits {
  readonly id: number;
  readonly partitions: number;
  readonly keys: number;
  readonly isRough: boolean;
  readonly isSound: boolean;
}

function plannedRecord(draw: Draw, { id, partitions, keys, isRough, isSound }: RecordTraits): PlannedRecord {
  const key = draw.integer(0, keys);
  const fate = isRough ? fateOf(draw) : draw.pick<Fate>("fine", "fine", "fine", "double", "filtered", "empty");
  return {
    id,
    // A key has its partition, as with Kafka's partitioners; records without one are anywhere.
    partition: key === 0 ? draw.integer(0, partitions - 1) : key % partitions,
    key,
    fate: isSound && poisonous.has(fate) ? "fine" : fate,
    gap: draw.chance(0.05) ? draw.integer(1, 3) : 0,
  };
}

function fateOf(draw: Draw): Fate {
  return draw.pick<Fate>(
    ...(["fine", "fine", "fine", "fine", "fine", "filtered", "filtered", "empty", "double", "fails-once", "fails-twice"] as const),
    ...(["transient", "poison", "mistake", "broken", "late-schema", "needs-registry", "unknown-at-first", "never-known"] as const),
  );
}

/** What must go without a loss and without a repeat. */
function calmStep(draw: Draw, lengthMs: number): Step {
  return { atMs: draw.integer(0, lengthMs), what: draw.pick("join", "join", "leave"), who: draw.integer(0, 9) };
}

function wildStep(draw: Draw, lengthMs: number, partitions: number): Step {
  const atMs = draw.integer(0, lengthMs);
  const who = draw.integer(0, 9);
  const what = draw.pick(
    ...(["join", "join", "leave", "crash", "crash", "crash", "expire", "bounce", "evict", "replace-all"] as const),
    ...(["fault", "fault", "fault", "fault", "registry-down", "sink-down", "log"] as const),
  );
  switch (what) {
    case "evict":
      return { atMs, what, who, forMs: draw.integer(1, 200) };
    case "fault":
      return { atMs, what, ...faultOf(draw) };
    case "registry-down":
    case "sink-down":
      return { atMs, what, forMs: draw.integer(1, 300) };
    case "log":
      return { atMs, what: draw.pick("retention", "downtime", "compaction"), partition: draw.integer(0, partitions - 1) };
    default:
      return { atMs, what, who };
  }
}

function faultOf(draw: Draw): { readonly fault: Pick<BrokerFault, "on" | "how" | "times">; readonly forMs: number } {
  const on = draw.pick("commit", "commit", "commit", "send", "send", "fetch", "fetch", "connect");
  const how =
    on === "fetch" || on === "connect"
      ? draw.pick<BrokerFault["how"]>("fails", "hangs", "hangs", { lateMs: draw.integer(1, 100) })
      : draw.pick<BrokerFault["how"]>("fails", "hangs", "answer-lost", { lateMs: draw.integer(1, 100) });
  return { fault: { on, how, times: draw.pick(1, 1, 2, 10) }, forMs: draw.integer(1, 200) };
}
