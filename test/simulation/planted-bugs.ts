import type { Clock, KafkaDriver, OffsetCommit, PartitionAssignment, Sink } from "@cdckit/consumer";
import { type CdcEvent, DecodeError, type Decoder, type KafkaRecord } from "@cdckit/decode";
import type { MemoryBroker } from "@cdckit/testkit";
import type { SimulatedEvent } from "./fateful-decoder.ts";
import { type Fact, placeOf } from "./oracle.ts";
import type { Plan } from "./plan.ts";
import { type Line, type Tampering, tamperedDriver } from "./tampered-driver.ts";

export interface BugTools {
  readonly clock: Clock;
  readonly plan: Plan;
  readonly broker: MemoryBroker;
  readonly factAt: (partition: number, offset: bigint) => Fact | undefined;
}

export type Handle = (events: readonly SimulatedEvent[]) => void | Promise<void>;

/** A bug that consumers have had, put between the runtime and what is around it. */
export interface PlantedBug {
  readonly name: string;
  readonly driver?: (driver: KafkaDriver, tools: BugTools) => KafkaDriver;
  readonly decoder?: (decoder: Decoder) => Decoder;
  readonly handler?: (handle: Handle, clock: Clock) => Handle;
  readonly sink?: (sink: Sink) => Sink;
  /** The far side of the sinks takes writes of whoever comes. */
  readonly isUnfenced?: boolean;
  /** Positions are of a topic's name. */
  readonly ignoresTopicIds?: boolean;
}

/** In the line between the consumer and its driver. */
function inLine(name: string, tampering: (tools: BugTools) => Tampering): PlantedBug {
  return { name, driver: (driver, tools) => tamperedDriver(driver, tampering(tools)) };
}

/** Commits another offset than is handled. */
function commits(name: string, other: (commit: OffsetCommit, line: Line, tools: BugTools) => bigint): PlantedBug {
  return inLine(name, (tools) => ({
    commit: (offsets, line) => offsets.map((commit) => ({ ...commit, offset: other(commit, line, tools) })),
  }));
}

/** Handles events in another way. */
function handles(name: string, handler: NonNullable<PlantedBug["handler"]>): PlantedBug {
  return { name, handler };
}

export const plantedBugs: readonly PlantedBug[] = [
  inLine("commits before it applies", () => ({
    sink: (sink, { session }) => ({
      batch: (batch) => {
        void session()
          ?.commit([{ assignment: batch.assignment, offset: batch.nextOffset }])
          .catch(() => {});
        return sink.batch(batch);
      },
    }),
  })),
  commits("commits the highest that it has seen", ({ assignment, offset }, { handedTo }) => handedTo.get(assignment) ?? offset),
  commits("commits one too many", ({ offset }) => offset + 1n),
  commits("commits one too few", ({ offset }) => (offset > 0n ? offset - 1n : offset)),
  commits("commits past a neighbour that is not handled", ({ assignment: { partition }, offset }, _line, { factAt }) =>
    factAt(partition, offset)?.record.fate === "filtered" ? offset + 2n : offset,
  ),
  inLine("commits for another partition", ({ plan }) => ({
    commit: (offsets) =>
      offsets.length < 2 || plan.partitions < 2
        ? offsets
        : offsets.map(({ assignment }, at) => ({ assignment, offset: (offsets.at(at - 1) as OffsetCommit).offset })),
  })),
  inLine("commits after the revoke, with the epoch of before", ({ clock }) => ({
    sink: (sink, { session, handedTo }) => ({
      revoked: async (assignments, how) => {
        await sink.revoked(assignments, how);
        const offsets = assignments.flatMap((assignment) => commitOf(assignment, handedTo));
        clock.after(
          5,
          () =>
            void session()
              ?.commit(offsets)
              .catch(() => {}),
        );
      },
    }),
  })),
  inLine("lets commits overtake each other", ({ clock, plan }) => ({
    session: (session) => {
      let commitsSent = 0;
      return {
        commit: async (offsets) => {
          const delayMs = commitsSent++ % 2 === 0 ? (plan.delivery.commitIntervalMs ?? 100) : 0;
          clock.after(delayMs * 2.5, () => void session.commit(offsets).catch(() => {}));
        },
      };
    },
  })),
  inLine("commits behind a transaction what was handled before it", () => ({
    session: (session) => ({
      transact: async (records, offsets) => {
        await session.transact?.(records, offsets);
        const before = offsets.map(({ assignment, offset }) => ({ assignment, offset: offset - 1n })).filter(({ offset }) => offset > 0n);
        await session.commit(before).catch(() => {});
      },
    }),
  })),
  inLine("hears a turn too late that partitions are lost", ({ clock }) => ({
    sink: (sink) => ({
      revoked: async (assignments, how) => {
        await (how === "lost" ? clock.yieldToEventLoop() : Promise.resolve());
        await sink.revoked(assignments, how);
      },
    }),
  })),
  inLine("ignores its lease", () => ({ sink: () => ({ acknowledged: () => {} }) })),
  inLine("does not commit at a revoke", withoutFinalCommit),
  inLine("keeps the last commit back", () => ({
    // A commit counts when the next one is asked for: the last never does.
    session: (session) => {
      let last: readonly OffsetCommit[] = [];
      return {
        commit: async (offsets) => {
          const before = last;
          last = offsets;
          await session.commit(before);
        },
      };
    },
  })),
  inLine("takes a failed commit for a good one", () => ({
    session: (session) => ({ commit: (offsets) => session.commit(offsets).catch(() => {}) }),
  })),
  inLine("forgets to drain before a revoke", () => ({
    sink: (sink) => ({
      revoked: (assignments, how) => {
        void sink.revoked(assignments, how);
        return Promise.resolve();
      },
    }),
  })),
  inLine("gives partitions up at its deadline only", ({ clock, plan }) => ({
    sink: (sink) => ({
      revoked: async (assignments, how) => {
        await sink.revoked(assignments, how);
        await new Promise<void>((resolve) => void clock.after(plan.shutdownTimeoutMs, resolve));
      },
    }),
  })),
  inLine("skips the fence after a loss", () => ({
    sink: (sink) => ({ revoked: (assignments, how) => (how === "lost" ? Promise.resolve() : sink.revoked(assignments, how)) }),
  })),
  inLine("hears of no revoke at all", () => ({ sink: () => ({ revoked: () => Promise.resolve() }) })),
  inLine("drops the last record of a batch", () => ({
    records: (records) => (records.length > 2 ? records.slice(0, -1) : records),
  })),
  inLine("drops the first record of a batch", () => ({ records: (records) => (records.length > 2 ? records.slice(1) : records) })),
  inLine("swaps two records of a key", () => ({ records: swapped })),
  inLine("hands a batch on twice", () => ({
    sink: (sink) => ({
      batch: (batch) => {
        const first = sink.batch(batch) ?? Promise.resolve();
        return first.then(() => sink.batch(batch));
      },
    }),
  })),
  inLine("tells the keys of records apart by their offsets", () => ({
    records: (records) => records.map((record) => ({ ...record, key: Buffer.from(String(record.offset)) })),
  })),
  inLine("loses the resume of a paused partition", () => ({ session: () => ({ resume: () => {} }) })),
  inLine("holds every partition while one is at work", () => ({
    sink: (sink) => {
      let before: Promise<void> = Promise.resolve();
      return {
        batch: (batch) => {
          before = before.then(() => sink.batch(batch));
          return before;
        },
      };
    },
  })),
  inLine("ignores back-pressure", ({ clock }) => ({
    sink: (sink) => ({
      batch: (batch) => {
        void sink.batch(batch);
        return clock.yieldToEventLoop();
      },
    }),
    session: () => ({ pause: () => {} }),
  })),
  inLine("ignores that a dead letter was not written", () => ({
    session: (session) => ({ send: (records) => session.send?.(records).catch(() => {}) ?? Promise.resolve() }),
  })),
  inLine("does not wait for a dead letter's acknowledgement", () => ({
    session: (session) => ({
      send: (records) => {
        void session.send?.(records).catch(() => {});
        return Promise.resolve();
      },
    }),
  })),
  inLine("writes dead letters anew instead of as they were", () => ({
    session: (session) => ({
      send: (records) => session.send?.(records.map((record) => ({ ...record, value: Buffer.from("{}") }))) ?? Promise.resolve(),
    }),
  })),
  inLine("forgets a parked key", () => ({
    session: (session) => ({
      send: (records) =>
        records.some((record) => placeOf(record).parkedBehind !== null)
          ? Promise.resolve()
          : (session.send?.(records) ?? Promise.resolve()),
    }),
  })),
  inLine("starts at the end where nothing is committed", () => ({ subscription: (subscription) => ({ ...subscription, from: "latest" }) })),
  inLine("goes on in silence where records are gone", ({ broker }) => ({
    subscription: (subscription) => ({
      ...subscription,
      startAt: async (assignments) => {
        const known = new Map((await subscription.startAt?.(assignments))?.map(({ assignment, offset }) => [assignment, offset]));
        return assignments.flatMap((assignment) => {
          const { topic, partition } = assignment;
          const { start } = broker.log(topic, partition);
          const wanted = known.get(assignment) ?? broker.committed("g", topic, partition);
          return wanted === null ? [] : [{ assignment, offset: wanted < start ? start : wanted }];
        });
      },
    }),
  })),
  inLine("does not tell what it skips", () => ({ sink: () => ({ skipped: () => {} }) })),
  inLine("goes back one record after a rebalance", ({ broker }) => ({
    subscription: (subscription) =>
      subscription.startAt !== undefined
        ? subscription
        : {
            ...subscription,
            startAt: async (assignments) =>
              assignments.flatMap((assignment) => {
                const { start } = broker.log(assignment.topic, assignment.partition);
                const committed = broker.committed("g", assignment.topic, assignment.partition);
                return committed === null || committed <= start ? [] : [{ assignment, offset: committed - 1n }];
              }),
          },
  })),
  handles("does not wait for handlers", (handle) => (events) => {
    const pending = handle(events);
    void pending?.catch(() => {});
  }),
  handles("skips poison in silence", (handle) => (events) => {
    try {
      return handle(events)?.catch(() => {});
    } catch {
      return undefined;
    }
  }),
  handles("goes on behind a retry without having done it", (handle) => {
    const failed = new Set<number>();
    const give = (events: readonly SimulatedEvent[]): void => events.forEach(({ id }) => failed.add(id));
    return (events) => {
      if (events.some(({ id }) => failed.has(id))) {
        return undefined;
      }
      try {
        return handle(events)?.catch((error: unknown) => {
          give(events);
          throw error;
        });
      } catch (error) {
        give(events);
        throw error;
      }
    };
  }),
  {
    name: "handles a truncate beside rows of other keys",
    decoder: (decoder) => ({
      ...decoder,
      decodeAt: (cursor) => {
        const asRows = (events: readonly CdcEvent[]): readonly CdcEvent[] =>
          events.map((event) => (event.kind === "truncate" ? ({ ...event, kind: "row" } as unknown as CdcEvent) : event));
        const decoded = decoder.decodeAt(cursor);
        return "then" in decoded ? decoded.then(asRows) : asRows(decoded);
      },
    }),
  },
  handles("lets a later record of the key overtake a retry", (handle, clock) => {
    const later = (events: readonly SimulatedEvent[]): void => {
      clock.after(
        20,
        () =>
          void Promise.resolve()
            .then(() => handle(events))
            .catch(() => {}),
      );
    };
    return (events) => {
      try {
        return handle(events)?.catch(() => later(events));
      } catch {
        return later(events);
      }
    };
  }),
  {
    name: "makes dead letters of what an outage of the registry delays",
    decoder: (decoder) => ({
      ...decoder,
      decodeAt: (cursor) => {
        const decoded = decoder.decodeAt(cursor);
        return "then" in decoded
          ? decoded.catch(() => {
              throw new DecodeError("malformed", "so it is taken");
            })
          : decoded;
      },
    }),
  },
  { name: "moves a checkpoint without its rows", sink: (sink) => ({ ...sink, apply: (batch) => sink.apply({ ...batch, events: [] }) }) },
  {
    name: "writes rows without their checkpoint",
    sink: (sink) => ({
      ...sink,
      apply: (batch) => sink.apply({ ...batch, nextOffset: batch.events[0]?.record.offset ?? batch.nextOffset }),
    }),
  },
  { name: "writes to a sink without a fence", isUnfenced: true },
  { name: "takes a recreated topic for the one before", ignoresTopicIds: true },
  {
    name: "takes a checkpoint of the topic before for one of the recreated topic",
    sink: (sink) => ({
      ...sink,
      claim: (group, all) => sink.claim(group, all).then((known) => known.map(({ assignment, offset }) => ({ assignment, offset }))),
    }),
  },
  {
    name: "takes a failed write to a sink for a good one",
    sink: (sink) => ({ ...sink, apply: (batch) => sink.apply(batch).catch(() => {}) }),
  },
  {
    name: "ignores a sink's checkpoint at the start",
    sink: (sink) => ({ ...sink, claim: (group, all) => sink.claim(group, all).then(() => []) }),
  },
];

function commitOf(assignment: PartitionAssignment, handedTo: ReadonlyMap<PartitionAssignment, bigint>): OffsetCommit[] {
  const offset = handedTo.get(assignment);
  return offset === undefined ? [] : [{ assignment, offset }];
}

/** Commits of partitions that are being revoked are taken, and not passed on. */
function withoutFinalCommit(): Tampering {
  const going = new Set<PartitionAssignment>();
  return {
    sink: (sink) => ({
      revoked: (assignments, how) => {
        for (const assignment of assignments) {
          going.add(assignment);
        }
        return sink.revoked(assignments, how);
      },
    }),
    commit: (offsets) => offsets.filter(({ assignment }) => !going.has(assignment)),
  };
}

/** The first two neighbours of one key change places. */
function swapped(records: readonly KafkaRecord[]): readonly KafkaRecord[] {
  const at = records.findIndex((record, i) => i > 0 && String(record.key) === String(records[i - 1]?.key));
  const [a, b] = [records[at - 1], records[at]];
  return a === undefined || b === undefined ? records : [...records.slice(0, at - 1), b, a, ...records.slice(at + 1)];
}
