/** Every figure that a threshold or a baseline can be about, and which way is better. A name is written here and nowhere else. */
export const metricDirections = {
  /** Messages a second. */
  rate: "higher",
  /** 10^6 bytes a second. */
  throughput: "higher",
  /** Ours to the peer's rate; `demo` only. */
  ratio: "higher",
  "decode.p50": "lower",
  "decode.p95": "lower",
  "decode.p99": "lower",
  "size.avg": "lower",
  "size.median": "lower",
  "size.p99": "lower",
  /** From the record's timestamp until it was handled; `run --tail` only. */
  "latency.p50": "lower",
  "latency.p95": "lower",
  "latency.p99": "lower",
  /** For each row, in memory; `codec` only. */
  "codec.write": "lower",
  "codec.read": "lower",
  /** Events a second in the windows of a drain: the median and the best; `drain` only. */
  "rate.p50": "higher",
  "rate.peak": "higher",
  /** From handing a batch to a store until it is committed there; `drain` only. */
  "commit.p50": "lower",
  "commit.p95": "lower",
  "commit.p99": "lower",
  /** Percent of the rate that effectively-once costs against at-least-once; `drain` only. */
  "delivery.cost": "lower",
  /** From the object until it was back; `roundtrip` only. */
  "roundtrip.p50": "lower",
  "roundtrip.p95": "lower",
  "roundtrip.p99": "lower",
  /** From a request until its body was decoded; `http` only. */
  "request.p50": "lower",
  "request.p95": "lower",
  "request.p99": "lower",
  /** Bytes that client and server allocate for one request; `http` only. */
  allocated: "lower",
  /** Percent by which the last third differs from the first; `soak` only. A rate that falls and a heap that rises are worse. */
  "drift.rate": "higher",
  "drift.heap": "lower",
  "drift.rss": "lower",
  /** Records that could not be decoded. */
  errors: "lower",
} as const;

export type MetricName = keyof typeof metricDirections;

/** One figure: durations in nanoseconds, sizes in bytes, throughput in bytes a second. */
export interface Metric {
  readonly name: MetricName;
  /** What it was measured on: a topic, or a topic and a format. */
  readonly scope: string;
  readonly value: number;
}

export function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(metricDirections, name);
}

/** Percentages, around zero: a part of them says nothing. */
export function isPercentage(name: MetricName): boolean {
  return name === "delivery.cost" || name.startsWith("drift.");
}

/** A value with what it is a value of: durations as such, everything else as a number. */
export function isDuration(name: MetricName): boolean {
  return ["decode.", "latency.", "commit.", "codec.", "roundtrip.", "request."].some((prefix) => name.startsWith(prefix));
}
