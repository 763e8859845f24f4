import { rulesFor } from "../../measure/rules.ts";
import type { Environment } from "../../report/environment.ts";
import { formatCount } from "../../report/quantities.ts";
import type { ProducedTopic, ProduceMeasure } from "./run-produce.ts";
import type { Metric } from "../../verdict/metric.ts";
import type { Verdict } from "../../verdict/verdict.ts";
import type { BenchResult } from "../../result/bench-result.ts";

/** The result of `produce`. */
export interface ProduceResult extends BenchResult {
  readonly command: "produce";
  readonly outcome: ProduceMeasure["outcome"];
  readonly topics: readonly ProducedTopicResult[];
  /** Acknowledged records of all topics together; those that were sent, if nobody acknowledges them. */
  readonly recordsPerSecond: number;
  readonly dueRecords: number | null;
  readonly lateness: ProduceMeasure["lateness"];
  readonly dueToAck: ProduceMeasure["dueToAck"];
  readonly ack: ProduceMeasure["ack"];
  readonly retries: number;
}

export interface ProducedTopicResult extends ProducedTopic {
  readonly recordsPerSecond: number;
}

export interface ProduceParts {
  readonly startedAt: Date;
  readonly environment: Environment;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly measure: ProduceMeasure;
  readonly verdict: Verdict;
}

const nsPerMs = 1e6;

/** The figures that thresholds and baselines can be about: rates by topic, and how long after its time a record was acknowledged. */
export function produceMetrics({ topics, elapsedMs, dueToAck, ack }: ProduceMeasure): readonly Metric[] {
  const delays = dueToAck ?? ack;
  const scope = dueToAck === null ? "request to acknowledgement" : "due time to acknowledgement";
  return [
    ...topics.flatMap(({ topic, records, payloadBytes }): readonly Metric[] => [
      { name: "rate", scope: topic, value: perSecond(records, elapsedMs) },
      { name: "throughput", scope: topic, value: perSecond(payloadBytes, elapsedMs) },
      ...(records === 0 ? [] : [{ name: "size.avg", scope: topic, value: payloadBytes / records } as const]),
    ]),
    ...(delays === null || delays.count === 0
      ? []
      : [
          { name: "latency.p50", scope, value: delays.p50Ms * nsPerMs } as const,
          { name: "latency.p99", scope, value: delays.p99Ms * nsPerMs } as const,
        ]),
  ];
}

export function produceResult({ startedAt, environment, settings, measure, verdict }: ProduceParts): ProduceResult {
  const { outcome, elapsedMs, topics, dueRecords, lateness, dueToAck, ack, retries } = measure;
  const records = topics.reduce((sum, topic) => sum + topic.records, 0);
  return {
    schemaVersion: 1,
    command: "produce",
    startedAt: startedAt.toISOString(),
    elapsedMs,
    aborted: outcome === "interrupted",
    environment,
    settings,
    rules: rulesFor("sameRows", "sizes", ...(lateness === null ? [] : (["intendedTimes"] as const))),
    notes: notesOf(measure),
    outcome,
    topics: topics.map((topic) => ({ ...topic, recordsPerSecond: perSecond(topic.records, elapsedMs) })),
    recordsPerSecond: perSecond(records, elapsedMs),
    dueRecords,
    lateness,
    dueToAck,
    ack,
    retries,
    ...verdict,
  };
}

const shortRunMs = 1_000;
const lateMs = 100;

function notesOf({ outcome, elapsedMs, topics, dueRecords, lateness, ack, retries }: ProduceMeasure): readonly string[] {
  const written = topics[0]?.records ?? 0;
  return [
    ...(outcome === "interrupted"
      ? [`It was interrupted: the topics have what was ${ack === null ? "sent" : "acknowledged"}, and stay.`]
      : []),
    ...(ack === null
      ? [
          "Nobody has acknowledged these records: they are counted when they are sent, brokers may have lost or refused some, and no delay ends with them.",
        ]
      : []),
    ...(elapsedMs < shortRunMs
      ? ["The run took less than a second: its rate says more about the start than about the rate that can be kept."]
      : []),
    ...(dueRecords !== null && dueRecords > written && outcome === "time-up"
      ? [
          `The rate was not kept: of ${formatCount(dueRecords)} records that were due, ${formatCount(written)} were ${ack === null ? "sent to" : "written in"} each topic.`,
        ]
      : []),
    ...(lateness !== null && lateness.p99Ms > lateMs
      ? [
          `One record in a hundred was sent more than ${Math.round(lateness.p99Ms)} ms late: this machine or these brokers do not keep the rate.`,
        ]
      : []),
    ...(retries > 0
      ? [`Batches were sent again ${retries} times because a leader moved: the order of their partitions may have changed.`]
      : []),
  ];
}

function perSecond(amount: number, elapsedMs: number): number {
  return elapsedMs === 0 ? 0 : (amount / elapsedMs) * 1e3;
}
