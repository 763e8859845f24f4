import { type OffsetCommit, type PartitionAssignment, silentLogger, type Subscription, type WaitFor } from "@cdckit/consumer";
import { ProbeSink } from "@cdckit/testkit";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import type { BrokerQuestions, Tried } from "./broker-questions.ts";
import { Commits } from "./commits.ts";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { missingAt } from "./log-ranges.ts";
import type { LogEnds, Position } from "./lost-range.ts";
import { PartitionStarter } from "./partition-starter.ts";
import { type Place, placeOf } from "./place.ts";
import { type FoundStarts, type LostStart, resolveStarts } from "./starts.ts";

const places: readonly Place[] = [0, 1].map((partition) => ({ topic: "t", partition }));
const subscription = { groupId: "g", topics: ["t"], from: "earliest", logger: silentLogger } as const;

/** The checkpoint of a sink, in the topic of this id. */
function startIn(topicId: string): NonNullable<Subscription["startAt"]> {
  return async (asked) => asked.map((assignment) => ({ assignment, offset: 9n, topicId }));
}

/** Two partitions with records 5 to 9. What the group has committed of the first is gone. */
function setUp(
  resets: readonly number[] = [],
  ofFirst: Position = { offset: 2n, topicId: "id" },
  warned = (_message: string): void => {},
  ofSink: string | null = null,
  from: Subscription["from"] = "earliest",
) {
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  const started: string[] = [];
  const startedFrom: (bigint | null | undefined)[] = [];
  const sent: OffsetCommit[] = [];
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const ends = new Map([0, 1].map((partition) => [placeOf("t", partition), { low: 5n, high: 10n }]));
  const committed = new Map<string, Position>([
    [placeOf("t", 0), ofFirst],
    [placeOf("t", 1), { offset: 6n, topicId: "id" }],
  ]);
  resets.forEach((partition) => committed.delete(placeOf("t", partition)));
  const brokers = {
    topicIds: () => answered.then(() => new Map([["t", "id"]])),
    committed: () => Promise.resolve(committed),
    resets: () => Promise.resolve(new Set(resets.map((partition) => placeOf("t", partition)))),
    ends: () => Promise.resolve(ends),
  } as unknown as BrokerQuestions; // as much as is asked
  const send = async (offsets: readonly OffsetCommit[]): Promise<void> => void sent.push(...offsets);
  const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);
  const commits = new Commits({ assignments, send, transact: () => Promise.resolve(), makeError });
  const failures: string[] = [];
  const warn = ({ err }: { readonly err?: unknown }): void => warned(String(err));
  const waits: [WaitFor, ...string[]][] = [];
  const waiting = (wait: WaitFor) => {
    const open: [WaitFor, ...string[]] = [wait];
    waits.push(open);
    return { failed: (cause: unknown) => void open.push(String(cause)), end: () => void waits.splice(waits.indexOf(open), 1) };
  };
  const sink = Object.assign(new ProbeSink(), { waiting });
  const starter = new PartitionStarter({
    brokers,
    host: "b:1",
    subscription: {
      ...subscription,
      from,
      logger: { ...silentLogger, debug: warn, warn },
      ...(ofSink === null ? {} : { startAt: startIn(ofSink) }),
    },
    sink,
    assignments,
    start: (held, { assignment: { partition }, offset, committed: ofGroup }) => {
      held.isStarting = false;
      startedFrom.push(ofGroup);
      started.push(`${partition}@${offset}`);
    },
    commit: (offsets) => commits.commit(offsets),
    putBack: (offsets) => commits.putBack(offsets),
    makeError,
    over: new AbortController().signal,
    fail: (error) => void failures.push((error as Error).message),
  });
  return { assignments, starter, started, startedFrom, sent, failures, waits, commits, answer, brokers, ends, sink };
}

test("what the group's position lacks fails the session that starts there", async () => {
  const { assignments, starter, failures, started, answer } = setUp();
  starter.begin(assignments.add(places));
  answer();
  await assignments.all()[0]?.start;
  expect(failures).toEqual([expect.stringContaining("the records from 2 to 4 are gone")]);
  expect(started).toEqual([]);
});

test("a commit that the client has replaced is a lost range, and not a group without a commit, which would start at from", async () => {
  const { assignments, starter, failures, started, answer } = setUp([1]);
  starter.begin(assignments.add(places.slice(1)));
  answer();
  await assignments.all()[0]?.start;
  expect([failures, started]).toEqual([[expect.stringContaining("the records from 0 to 4 are gone")], []]);
});

test("a range that is lost for a partition that was moved meanwhile fails nothing, and the others start", async () => {
  const { assignments, starter, failures, started, commits, sent, answer } = setUp();
  const both = assignments.add(places);
  const [first] = both;
  starter.begin(both);
  const moved = first === undefined ? null : starter.move(first, 7n);
  if (moved === null) {
    throw new Error("expected two partitions, and the first of them moved");
  }
  const committed = commits.commit([{ assignment: moved, offset: 7n }]);
  answer();
  await Promise.all(assignments.all().map(({ start }) => start));
  await committed;
  expect(failures).toEqual([]);
  expect(started.sort()).toEqual(["0@7", "1@6"]);
  expect([moved.topicId, sent]).toEqual(["id", [{ assignment: moved, offset: 7n }]]);
});

test("a partition that is given up while its recreated topic is noted in the group fails nothing, and the others start", async () => {
  const { assignments, starter, failures, started, sent, commits, answer } = setUp([], { offset: 9n, topicId: "of the old topic" });
  starter.begin(assignments.add(places));
  const [first, second] = assignments.all();
  if (first === undefined || second === undefined) {
    throw new Error("expected two partitions");
  }
  // A transaction that is under way holds up the commit that notes the topic.
  let end = (): void => {};
  const putBack = commits.putBack.bind(commits);
  const noted = new Promise<void>((resolve) => (end = resolve));
  commits.putBack = async (offsets) => {
    assignments.release([first]);
    await noted;
    await putBack(offsets);
  };
  answer();
  end();
  await second.start;
  expect([failures, started, sent]).toEqual([[], ["1@6"], []]);
});

test.each([
  ["of the new topic", "id", []],
  ["without an id, as a tool writes it", null, []],
  ["of the old topic", "old", ["5 of old"]],
])(
  "where a sink's checkpoint names the old topic, the group's commit %s is what somebody has decided, or gives way",
  async (_, topicId, expected) => {
    const { assignments, starter, failures, sent, answer } = setUp([], { offset: 7n, topicId }, undefined, "old");
    starter.begin(assignments.add(places.slice(0, 1)));
    answer();
    await assignments.all()[0]?.start;
    expect(failures).toEqual([expect.stringContaining("the topic was deleted and created again")]);
    expect(sent.map(({ assignment, offset }) => `${offset} of ${assignment.topicId}`)).toEqual(expected);
  },
);

describe("after a failure, the start of a partition that the group has no commit of", () => {
  const gone = { topic: "t", partition: 0, firstMissing: 2n, firstAvailable: 5n, end: 10n };

  /** Two partitions that have started: the first at 5, without a commit, and the second at its commit. */
  async function begun() {
    const { assignments, starter, sent, answer, brokers, commits } = setUp();
    const committed = await brokers.committed([]);
    brokers.committed = async () => new Map([...committed].filter(([place]) => place === placeOf("t", 1)));
    starter.begin(assignments.add(places));
    answer();
    const [first, second] = assignments.all();
    await Promise.all([first?.start, second?.start]);
    assignments.endReading();
    return { starter, sent, commits, first: first as HeldPartition };
  }
  const offsetsOf = (sent: readonly OffsetCommit[]): string[] => sent.map(({ assignment, offset }) => `${assignment.partition}@${offset}`);

  test("is committed if retention took records, because the next start would not know where this one was", async () => {
    const { starter, sent } = await begun();
    starter.commitStarts(Object.assign(new Error("gone"), { lost: gone }));
    await starter.untilStartsCommitted(1_000);
    expect(offsetsOf(sent)).toEqual(["0@5"]);
  });

  test.each([
    ["another failure", undefined],
    ["a recreated topic", { ...gone, recreated: { from: "old", to: "new" } }],
    ["a log that was truncated", { ...gone, firstMissing: 20n }],
  ])("is not committed after %s", async (_, lost) => {
    const { starter, sent } = await begun();
    starter.commitStarts(Object.assign(new Error("failed"), { lost }));
    await starter.untilStartsCommitted(1_000);
    expect(sent).toEqual([]);
  });

  test("is not committed over what was handled, also if that is on its way, nor where a transaction may have ended", async () => {
    const { starter, sent, commits, first } = await begun();
    const handled = commits.commit([{ assignment: first.assignment, offset: 7n }]);
    starter.commitStarts({ lost: gone });
    await Promise.all([starter.untilStartsCommitted(1_000), handled]);
    expect(offsetsOf(sent)).toEqual(["0@7"]);
    const doubted = await begun();
    doubted.first.doubted = 9n;
    doubted.starter.commitStarts({ lost: gone });
    await doubted.starter.untilStartsCommitted(1_000);
    expect(doubted.sent).toEqual([]);
  });
});

test("a partition whose ends no broker knows yet does not start: at 0 it would be read from a place that nobody has checked", async () => {
  const { assignments, brokers, ends, answer } = setUp();
  answer();
  ends.delete(placeOf("t", 1));
  const found = await resolveStarts(brokers, subscription, assignments.add(places.slice(1)), { assignments, existing: null });
  expect([startsOf(found), reasonsOf(found)]).toEqual([[], ["no broker knows the ends of t[1]"]]);
});

/** The starts that are known, as `partition@offset`. */
function startsOf(found: FoundStarts | LostStart): readonly string[] {
  return "lost" in found ? [] : found.starts.map(({ assignment, offset }) => `${assignment.partition}@${offset}`);
}

/** Why the others are not known. */
function reasonsOf(found: FoundStarts | LostStart): readonly string[] {
  return "lost" in found ? [] : [...found.unknown.values()].map(({ message }) => message);
}

/** What a start since a time finds if the brokers answer this about the first records of that time. */
async function startsSince(found: ReadonlyMap<string, bigint | null>): Promise<FoundStarts | LostStart> {
  const { assignments, brokers, answer } = setUp([]);
  answer();
  const since = { ...brokers, committed: () => Promise.resolve(new Map()), offsetsAt: () => Promise.resolve(found) };
  return resolveStarts(since, { ...subscription, from: { timestamp: 1n } }, assignments.add(places), { assignments, existing: null });
}

test("a partition without a record of the time or later starts at its end", async () => {
  const found = new Map(places.map(({ topic, partition }) => [placeOf(topic, partition), null]));
  expect(startsOf(await startsSince(found))).toEqual(["0@10", "1@10"]);
});

test("a partition of which no broker has said whether it has such a record does not start: at its end it would pass records over", async () => {
  const found = await startsSince(new Map([[placeOf("t", 0), 7n]]));
  expect([startsOf(found), reasonsOf(found)]).toEqual([["0@7"], ["no broker knows the first record of the time in t[1]"]]);
});

test("with latest, partitions that there were when the session began start at their ends, and new ones at their first records", async () => {
  const { assignments, brokers, answer } = setUp();
  answer();
  const uncommitted = { ...brokers, committed: () => Promise.resolve(new Map()) };
  const existing = new Set([placeOf("t", 0)]);
  const found = await resolveStarts(uncommitted, { ...subscription, from: "latest" }, assignments.add(places), { assignments, existing });
  expect(startsOf(found)).toEqual(["0@10", "1@5"]);
});

describe("with latest", () => {
  /** The group has no commit. */
  function setUpAtTheEnd(warned = (_message: string): void => {}) {
    const parts = setUp([], undefined, warned, null, "latest");
    parts.answer();
    Object.assign(parts.brokers, { committed: () => Promise.resolve(new Map()), resets: undefined });
    return parts;
  }

  test("the end is committed before anything is read: who takes the partition over would start later", async () => {
    const { assignments, starter, started, sent } = setUpAtTheEnd();
    const sentBefore: (readonly OffsetCommit[])[] = [];
    const push = started.push.bind(started);
    started.push = (...texts) => {
      sentBefore.push([...sent]);
      return push(...texts);
    };
    starter.begin(assignments.add(places));
    await Promise.all(assignments.all().map(({ start }) => start));
    expect([...started]).toEqual(["0@10", "1@10"]);
    expect(sentBefore[0]?.map(({ assignment, offset }) => [assignment.partition, offset])).toEqual([
      [0, 10n],
      [1, 10n],
    ]);
  });

  test("the end that was committed is the group's commit: for one of an old owner, a transaction would be refused", async () => {
    const { assignments, starter, startedFrom, commits } = setUpAtTheEnd();
    const [first, second] = places.map((place) => assignments.add([place]));
    starter.begin(first ?? []);
    await assignments.all()[0]?.start;
    commits.putBack = () => Promise.reject(new Error("the coordinator is moving"));
    starter.begin(second ?? []);
    await assignments.all()[1]?.start;
    expect(startedFrom).toEqual([10n, null]);
    expect(assignments.all().map(({ uncommittedStart }) => uncommittedStart)).toEqual([null, 10n]);
  });

  test("an end that cannot be committed holds up nothing, and is named; a failure of the session commits it", async () => {
    const said: string[] = [];
    const { assignments, starter, started, sent, commits } = setUpAtTheEnd((message) => void said.push(message));
    commits.putBack = () => Promise.reject(new Error("the coordinator is moving"));
    starter.begin(assignments.add(places.slice(0, 1)));
    await assignments.all()[0]?.start;
    expect([started, said]).toEqual([["0@10"], ["Error: the coordinator is moving"]]);
    starter.commitStarts({ lost: { topic: "t", partition: 1, firstMissing: 0n, firstAvailable: 5n } });
    await starter.untilStartsCommitted(1_000);
    expect(sent.map(({ offset }) => offset)).toEqual([10n]);
  });

  test("partitions that were added since the session began start at their first records; if nobody knows which, all start at their ends", async () => {
    for (const [existing, expected] of [
      [async () => places.slice(0, 1), ["0@10", "1@5"]],
      [() => Promise.reject(new Error("no broker answers")), ["0@10", "1@10"]],
    ] as const) {
      const { assignments, starter, started, brokers } = setUpAtTheEnd();
      Object.assign(brokers, { partitionsOf: existing });
      starter.beginSession(["t"]);
      starter.begin(assignments.add(places));
      await Promise.all(assignments.all().map(({ start }) => start));
      expect(started).toEqual(expected);
    }
  });
});

test("a partition whose ends are not known at first starts when they are, and the log says what it waits for", async () => {
  const said: string[] = [];
  const { assignments, starter, failures, started, answer, ends } = setUp([], undefined, (message) => void said.push(message));
  const [place, log] = [placeOf("t", 1), { low: 5n, high: 10n }];
  ends.delete(place);
  starter.begin(assignments.add(places.slice(1)));
  answer();
  await vi.waitFor(() => expect(said).toHaveLength(1), { timeout: 5_000 });
  ends.set(place, log);
  await assignments.all()[0]?.start;
  expect([failures, started]).toEqual([[], ["1@6"]]);
  expect(said[0]).toContain("no broker knows the ends of t[1]");
});

test("whether records are gone is not decided while the ends of the log are not known", async () => {
  const { assignments, brokers, ends } = setUp();
  const [assignment] = assignments.add(places.slice(1));
  if (assignment === undefined) {
    throw new Error("expected a partition");
  }
  expect(await missingAt(brokers, assignment, 2n)).toMatchObject({ firstMissing: 2n, firstAvailable: 5n });
  ends.clear();
  await expect(missingAt(brokers, assignment, 2n)).rejects.toThrow("no broker knows the ends of t[1]");
});

test("a topic that is recreated while its offsets are asked for is asked for again: the ends of the new log say nothing of the old id", async () => {
  const { assignments, starter, started, failures, answer, brokers, ends } = setUp([], { offset: 7n, topicId: "old" });
  answer();
  // At first the topic is away. When its commit and the ends of its log are asked for, there is another one of its name.
  const answers = [new Map<string, string>(), new Map([["t", "id"]]), new Map([["t", "id"]]), new Map([["t", "id"]])];
  let asked = 0;
  Object.assign(brokers, { topicIds: () => Promise.resolve(answers[Math.min(asked++, 3)]) });
  ends.set(placeOf("t", 0), { low: 0n, high: 8n });
  starter.begin(assignments.add(places.slice(0, 1)));
  await assignments.all()[0]?.start;
  // Without the second question, the partition would start at 7 in a topic whose records 0 to 6 nobody has read.
  expect(started).toEqual([]);
  expect(failures).toEqual([expect.stringContaining("the topic was deleted and created again (its id was old, and is id)")]);
});

test("a member that comes back to a recreated topic lacks what follows its position, and not what follows its own note in the group", async () => {
  // It was given up while it noted the topic: at the start of the new log, with the id of the old one.
  const { assignments, brokers, answer } = setUp([], { offset: 5n, topicId: "old" });
  answer();
  const readBefore = (): Position => ({ offset: 9n, topicId: "old" });
  const found = await resolveStarts(brokers, subscription, assignments.add(places.slice(0, 1)), {
    assignments: { readBefore },
    existing: null,
  });
  expect(found).toMatchObject({ lost: { firstMissing: 9n, firstAvailable: 5n, recreated: { from: "old", to: "id" } } });
});

test("a topic that no broker knows does not start, though its log and its commit are still there: nobody would notice that it is created again", async () => {
  const { assignments, brokers, answer } = setUp();
  answer();
  const away = { ...brokers, topicIds: async () => new Map([["t", null]]) };
  const found = await resolveStarts(away, subscription, assignments.add(places.slice(1)), { assignments, existing: null });
  expect([startsOf(found), reasonsOf(found)]).toEqual([[], [expect.stringContaining("topic t was deleted or created")]]);
});

test("a topic that is away holds up no partition of another topic", async () => {
  const { assignments, brokers, ends, answer } = setUp();
  answer();
  const ids = new Map([
    ["t", "id"],
    ["gone", null],
  ]);
  ends.set(placeOf("gone", 0), { low: 0n, high: 1n });
  const asked = assignments.add([...places.slice(1), { topic: "gone", partition: 0 }]);
  const found = await resolveStarts({ ...brokers, topicIds: async () => ids }, subscription, asked, { assignments, existing: null });
  expect([startsOf(found), reasonsOf(found)]).toEqual([["1@6"], [expect.stringContaining("topic gone was deleted or created")]]);
});

describe("a partition without a leader", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());
  const overAMinute = 61_000;

  /** Two partitions, of which the second has no leader. The first question is answered at once, and each of these after over a minute. */
  async function begun(answers: ((ends: Map<string, LogEnds>) => void)[]) {
    const { answer, assignments, brokers, ends, ...parts } = setUp([], { offset: 7n, topicId: "id" });
    const { started, waits, failures } = parts;
    const seen: unknown[] = [];
    let asked = 0;
    Object.assign(brokers, {
      ends: async () => {
        if (asked++ > 0) {
          seen.push(structuredClone({ started, waits, failures }));
          vi.advanceTimersByTime(overAMinute);
          answers.shift()?.(ends);
        }
        return ends;
      },
    });
    ends.delete(placeOf("t", 1));
    answer();
    parts.starter.begin(assignments.add(places));
    await Promise.all(assignments.all().map(({ start }) => start));
    return { ...parts, seen };
  }
  const without = (): void => {};

  test("holds up no other, and starts when it has one again: until then it is waited for, however long that is", async () => {
    const again = (ends: Map<string, LogEnds>): void => void ends.set(placeOf("t", 1), { low: 5n, high: 10n });
    const { seen, started, failures, waits } = await begun([without, again]);
    const wait = { what: "the start offset", host: "b:1", place: "t[1]" };
    expect(seen).toEqual([
      { started: ["0@7"], waits: [[wait]], failures: [] },
      { started: ["0@7"], waits: [[wait, "Error: [partition-unavailable] no broker knows the ends of t[1]"]], failures: [] },
    ]);
    expect([started, failures, waits]).toEqual([["0@7", "1@6"], [], []]);
  });

  test("does not hide that no broker answers: a minute after the last answer, the session fails", async () => {
    const silent = (): never => {
      throw new Error("no broker answers");
    };
    const { started, failures } = await begun([without, silent]);
    expect([started, failures]).toEqual([["0@7"], ["no broker answers"]]);
  });
});

test("a start that is not known is a wait with its partitions and the cause, while the brokers are asked, and ends with the start", async () => {
  const { assignments, starter, started, waits, answer, brokers, ends } = setUp([], { offset: 7n, topicId: "id" });
  vi.useFakeTimers({ toFake: ["performance"] });
  const seen: (typeof waits)[] = [];
  const again = ends.get(placeOf("t", 1));
  ends.delete(placeOf("t", 1));
  const { committed } = brokers;
  const unstable = new Error("a request failed", { cause: new Error("There are unstable offsets.") });
  const answers = [
    (tried: Tried) => {
      tried(unstable); // as often when a coordinator or a transaction moves on: that is no news
      seen.push(structuredClone(waits));
      vi.advanceTimersByTime(1_000);
      tried(unstable);
      seen.push(structuredClone(waits));
    },
    () => {
      seen.push(structuredClone(waits));
      ends.set(placeOf("t", 1), again ?? { low: 0n, high: 0n });
    },
  ];
  Object.assign(brokers, {
    committed: (asked: readonly Place[], tried: Tried) => {
      answers.shift()?.(tried);
      return committed(asked);
    },
  });
  starter.begin(assignments.add(places));
  answer();
  await Promise.all(assignments.all().map(({ start }) => start)).finally(() => vi.useRealTimers());
  const wait = { what: "the start offset", host: "b:1", place: "t[0] and 1 more" };
  const unstableText = "Error: [partition-unavailable] There are unstable offsets";
  expect(seen).toEqual([
    [[wait]],
    [[wait, unstableText]],
    [[{ ...wait, place: "t[1]" }]], // the other one has started
  ]);
  expect([started.sort(), waits]).toEqual([["0@7", "1@6"], []]);
});

test("partitions that are given up before their start is known are not waited for", async () => {
  const { assignments, starter, waits, answer } = setUp();
  starter.begin(assignments.add(places));
  const starts = assignments.all().map(({ start }) => start);
  await Promise.resolve();
  await Promise.resolve();
  expect(waits).toHaveLength(1);
  assignments.clear();
  answer();
  await Promise.all(starts);
  expect(waits).toEqual([]);
});

test("partitions of a recreated topic are lost before they are assigned again, and start in the new one", async () => {
  const { assignments, starter, started, answer, sink } = setUp([], { offset: 7n, topicId: "id" });
  const old = assignments.add(places);
  starter.begin(old);
  answer();
  await assignments.all()[0]?.start;
  starter.beginAgain(assignments.all().slice(1));
  const [, again] = assignments.all();
  await again?.start;
  expect(sink.revocations).toEqual([{ assignments: [old[1]], how: "lost" }]);
  expect(assignments.isCurrent(old[0] as PartitionAssignment)).toBe(true);
  expect(started).toEqual(["0@7", "1@6", "1@6"]);
});
