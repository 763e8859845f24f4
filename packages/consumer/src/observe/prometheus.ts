import type { Health } from "./health.ts";

/** The part of a prom-client `Registry` that is used. */
export interface PrometheusRegistry {
  /** Adds a metric. Throws if one of its name is there. */
  registerMetric(metric: never): void;
  /** Takes the metric of this name out, if there is one. */
  removeSingleMetric(name: string): void;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Definition {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: (health: Health) => readonly Sample[];
}

const definitions: readonly Definition[] = [
  counter("records", "Records read", ({ counts }) => [{ labels: {}, value: counts.records }]),
  counter("events", "Events decoded", ({ counts }) => [{ labels: {}, value: counts.events }]),
  counter("handled", "Events that a handler took; without handlers, that all their sinks applied", ({ counts }) => [
    { labels: {}, value: counts.handled },
  ]),
  counter("filtered", "Events that no handler asked for", ({ counts }) =>
    Object.entries(counts.filtered).map(([reason, value]) => ({ labels: { reason }, value })),
  ),
  counter("retries", "Attempts that failed and were repeated", ({ counts }) => [{ labels: {}, value: counts.retries }]),
  counter("dead_letters", "Records written to the dead-letter topic", ({ counts }) => [{ labels: {}, value: counts.deadLettered }]),
  counter("lost_offsets", "Offsets skipped because retention had deleted them", ({ counts }) => [
    { labels: {}, value: counts.lostOffsets },
  ]),
  counter("recreated", "Partitions that went on in a recreated topic", ({ counts }) => [{ labels: {}, value: counts.recreated }]),
  counter("reconnects", "Times that connections without an answer were replaced", ({ counts }) => [
    { labels: {}, value: counts.reconnects },
  ]),
  counter("skipped", "Records that failure.skip names", ({ counts }) => [{ labels: {}, value: counts.skipped }]),
  gauge("live", "1 while the consumer should be kept", ({ live }) => [{ labels: {}, value: live ? 1 : 0 }]),
  gauge("ready", "1 while it is a member of its group and nothing holds it up", ({ ready }) => [{ labels: {}, value: ready ? 1 : 0 }]),
  gauge("waits", "What is waited for or tried again", ({ waits }) => [{ labels: {}, value: waits.length }]),
  gauge("longest_wait_seconds", "How long the oldest wait lasts", ({ waits: [oldest] }) => [
    { labels: {}, value: oldest === undefined ? 0 : oldest.forMs / 1_000 },
  ]),
  gauge("lag_records", "Records between what is handled and the end of the log", ({ assigned }) =>
    assigned.flatMap(({ topic, partition, lag }) =>
      lag === null ? [] : [{ labels: { topic, partition: String(partition) }, value: Number(lag) }],
    ),
  ),
];

/**
 * Adds a consumer's metrics to a registry. They are what `health()` says at the moment of a scrape, so nothing else is counted. Several
 * consumers of one process share the metrics, and the label `group` tells them apart.
 */
export function registerPrometheus(registry: PrometheusRegistry, groupId: string, health: () => Health): void {
  const shared = sources.get(registry) ?? new Map<string, () => Health>();
  const isNew = shared.size === 0;
  shared.set(groupId, health);
  sources.set(registry, shared);
  if (isNew) {
    for (const definition of definitions) {
      registry.registerMetric(metricOf(definition, shared) as never); // what prom-client's registry calls of a metric
    }
  }
}

const sources = new WeakMap<PrometheusRegistry, Map<string, () => Health>>();

function metricOf({ name, help, type, samples }: Definition, groups: ReadonlyMap<string, () => Health>): object {
  return {
    name,
    help,
    type,
    aggregator: "sum",
    get: () =>
      Promise.resolve({
        name,
        help,
        type,
        aggregator: "sum",
        values: [...groups].flatMap(([group, health]) =>
          samples(health()).map(({ labels, value }) => ({ labels: { group, ...labels }, value })),
        ),
      }),
    reset: () => {},
  };
}

function counter(name: string, help: string, samples: Definition["samples"]): Definition {
  return { name: `cdckit_consumer_${name}_total`, help, type: "counter", samples };
}

function gauge(name: string, help: string, samples: Definition["samples"]): Definition {
  return { name: `cdckit_consumer_${name}`, help, type: "gauge", samples };
}
