import { callUser } from "../user-code/user-functions.ts";
import type { Clock } from "../clock.ts";
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
  readonly samples: (health: Health, member: Member) => readonly Sample[];
  /** What becomes of the values of several consumers of a group: in this process, and in prom-client's sum of the processes of a cluster. */
  readonly join: keyof typeof joins;
}

interface Member {
  readonly health: () => Health;
  /** Seconds since the epoch. */
  readonly startedAtS: number;
}

/** The consumers of a group in this process. */
interface Group {
  readonly members: Set<Member>;
  /** The counters of those that have stopped: without these the sums would fall, which Prometheus takes for a restart. */
  readonly stopped: Map<Definition, readonly Sample[]>;
}

const joins = { sum: (a: number, b: number): number => a + b, min: Math.min, max: Math.max } as const;

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
  gauge("live", "min", "1 while the consumer should be kept", ({ live }) => [{ labels: {}, value: live ? 1 : 0 }]),
  gauge("ready", "min", "1 while it is a member of its group and nothing holds it up", ({ ready }) => [
    { labels: {}, value: ready ? 1 : 0 },
  ]),
  gauge("start_time_seconds", "max", "When the newest consumer of the group started, in seconds since the epoch", (_, { startedAtS }) => [
    { labels: {}, value: startedAtS },
  ]),
  gauge("waits", "sum", "What is waited for or tried again", ({ waits }) => [{ labels: {}, value: waits.length }]),
  gauge("longest_wait_seconds", "max", "How long the oldest wait lasts", ({ waits: [oldest] }) => [
    { labels: {}, value: oldest === undefined ? 0 : oldest.forMs / 1_000 },
  ]),
  gauge("lag_records", "max", "Records between what is handled and the end of the log", ({ assigned }) =>
    assigned.flatMap(({ topic, partition, lag }) =>
      lag === null ? [] : [{ labels: { topic, partition: String(partition) }, value: Number(lag) }],
    ),
  ),
];

/**
 * Adds the metrics of consumers to the registry, if there is one. They are what `health()` says at the moment of a scrape, so nothing else is counted. Several
 * consumers of one process share the metrics. The label `group` tells their groups apart, and consumers of one group are joined: counters and
 * waits are summed up, and the group is live or ready if all are. One that has stopped is left out when the next one of its group starts,
 * except for what it has counted. Returns what is to be called when the consumer starts: one that never does is none of its group, and
 * nothing keeps it in memory.
 */
export function metricsOf(
  registry: PrometheusRegistry | undefined,
  groupId: string,
  health: () => Health,
  clock: Pick<Clock, "wallMs">,
): () => void {
  if (registry === undefined) {
    return () => {};
  }
  const register = (): Map<string, Group> => callUser("telemetry.prometheus", () => registerAll(registry));
  register(); // here already: a name that is taken is a mistake in the options
  return () => {
    const groups = register();
    const group = groups.get(groupId) ?? { members: new Set(), stopped: new Map() };
    groups.set(groupId, group);
    for (const member of group.members) {
      if (member.health().phase === "stopped") {
        leaveOut(member, group);
      }
    }
    group.members.add({ health: onceATurn(health), startedAtS: clock.wallMs() / 1_000 });
  };
}

/** A scrape asks for all metrics in one turn, and a report of thousands of partitions takes milliseconds. */
function onceATurn(health: () => Health): () => Health {
  let latest: Health | null = null;
  return () => {
    if (latest === null) {
      latest = health();
      queueMicrotask(() => {
        latest = null;
      });
    }
    return latest;
  };
}

const groupsOf = new WeakMap<PrometheusRegistry, Map<string, Group>>();

/** Each time: nobody says whether the registry was cleared. What is there of a name that was not registered here is not replaced. */
function registerAll(registry: PrometheusRegistry): Map<string, Group> {
  const groups = groupsOf.get(registry) ?? new Map<string, Group>();
  const registered: Definition[] = [];
  try {
    for (const definition of definitions) {
      if (groupsOf.has(registry)) {
        registry.removeSingleMetric(definition.name);
      }
      registry.registerMetric(metricOf(definition, groups) as never); // what prom-client's registry calls of a metric
      registered.push(definition);
    }
  } catch (error) {
    registered.forEach(({ name }) => registry.removeSingleMetric(name));
    throw error;
  }
  groupsOf.set(registry, groups);
  return groups;
}

function leaveOut(member: Member, { members, stopped }: Group): void {
  members.delete(member);
  for (const definition of definitions.filter(({ type }) => type === "counter")) {
    stopped.set(definition, joined(definition, [stopped.get(definition) ?? [], samplesOfMember(definition, member)]));
  }
}

function samplesOf(definition: Definition, { members, stopped }: Group): readonly Sample[] {
  return joined(definition, [stopped.get(definition) ?? [], ...[...members].map((member) => samplesOfMember(definition, member))]);
}

function samplesOfMember(definition: Definition, member: Member): readonly Sample[] {
  return definition.samples(member.health(), member);
}

/** One sample for each set of labels. */
function joined({ join }: Definition, lists: readonly (readonly Sample[])[]): readonly Sample[] {
  const [only = [], ...others] = lists.filter(({ length }) => length > 0);
  if (others.length === 0) {
    return only; // of one consumer, no two have the same labels
  }
  const byLabels = new Map<string, Sample>();
  for (const { labels, value } of [only, ...others].flat()) {
    const key = JSON.stringify(labels);
    const known = byLabels.get(key);
    byLabels.set(key, known === undefined ? { labels, value } : { labels, value: joins[join](known.value, value) });
  }
  return [...byLabels.values()];
}

function metricOf(definition: Definition, groups: ReadonlyMap<string, Group>): object {
  const { name, help, type, join: aggregator } = definition;
  return {
    name,
    help,
    type,
    aggregator,
    get: () =>
      Promise.resolve({
        name,
        help,
        type,
        aggregator,
        values: [...groups].flatMap(([id, group]) =>
          samplesOf(definition, group).map(({ labels, value }) => ({ labels: { group: id, ...labels }, value })),
        ),
      }),
    reset: () => {},
  };
}

function counter(name: string, help: string, samples: Definition["samples"]): Definition {
  return { name: `cdckit_consumer_${name}_total`, help, type: "counter", samples, join: "sum" };
}

function gauge(name: string, join: Definition["join"], help: string, samples: Definition["samples"]): Definition {
  return { name: `cdckit_consumer_${name}`, help, type: "gauge", samples, join };
}
