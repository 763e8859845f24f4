import { silentLogger } from "@cdckit/consumer";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ClassicMember } from "./classic-member.ts";
import type { GroupMemberParts } from "./group-member.ts";
import { writeAssignment } from "./group-protocol.ts";

type Answers = Record<string, (values: readonly unknown[]) => unknown>;

/** A coordinator of a group whose only member is the one under test: it gives back what the member has divided. */
function lonelyGroup(others: Answers): GroupMemberParts["cluster"] {
  let generationId = 0;
  const links = new Map<string, () => void>();
  const answers: Answers = {
    JoinGroup: (values) => {
      const [{ metadata }] = values[6] as [{ metadata: Buffer }];
      return { memberId: "a", generationId: ++generationId, leader: "a", members: [{ memberId: "a", metadata }], skipAssignment: false };
    },
    SyncGroup: (values) => (values[6] as [object])[0],
    Heartbeat: () => ({}),
    ...others,
  };
  return {
    brokers: "localhost:9092",
    coordinator: () => Promise.resolve({ host: "localhost", port: 9092 }),
    ask: (_at: unknown, purpose: string, name: string, values: readonly unknown[]) =>
      new Promise((resolve, reject) => {
        links.set(purpose, () => reject(unanswered("the connection was ended")));
        new Promise((answered) => answered(answers[name]?.(values))).then(resolve, reject);
      }),
    unlink: (_at: unknown, purpose: string) => links.get(purpose)?.(),
    forget: () => {},
  } as unknown as GroupMemberParts["cluster"]; // a member asks no more of it
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The only member of a group that reads one topic, which has so many partitions at first. */
function joinedMember(partitions: number, others: Answers = {}) {
  const topic = { partitions };
  const assigned: (readonly number[])[] = [];
  const waits: string[] = [];
  const failures: unknown[] = [];
  const tuning = { sessionTimeoutMs: 45_000, rebalanceTimeoutMs: 60_000, heartbeatIntervalMs: 3_000, metadataMaxAgeMs: 60_000 };
  const member = new ClassicMember({
    cluster: lonelyGroup(others),
    groupId: "readers",
    tuning: tuning as GroupMemberParts["tuning"], // all that a member reads of it
    logger: silentLogger,
    sink: {
      waiting: ({ what }: { what: string }) => {
        waits.push(what);
        return { failed: ({ message }: Error) => void waits.push(message), end: () => void waits.push("end") };
      },
    } as unknown as GroupMemberParts["sink"], // it is told of waits only
    topics: () => ["rows"],
    owned: () => [],
    countPartitions: (topics) => Promise.resolve(new Map(topics.map((name) => [name, topic.partitions]))),
    assigned: (places) => void assigned.push(places.map(({ partition }) => partition)),
    lost: () => void assigned.push([]),
    acknowledged: () => {},
    fail: (error) => void failures.push(error),
  });
  member.start();
  return { member, topic, assigned, waits, failures };
}

test("a topic that was deleted when the group divided its partitions is read within a second after it is there again", async () => {
  const { member, topic, assigned } = joinedMember(0);
  await vi.advanceTimersByTimeAsync(0);
  expect(assigned).toEqual([[]]);

  topic.partitions = 2;
  await vi.advanceTimersByTimeAsync(1_000);
  member.stop();
  expect(assigned.at(-1)).toHaveLength(2);
});

test.each([
  ["more", 6, [0, 1, 2, 3, 4, 5]],
  ["fewer", 2, [0, 1]],
])("a topic that is there again with %s partitions is divided once more, and not while it is away", async (_, partitions, expected) => {
  const { member, topic, assigned } = joinedMember(4);
  await vi.advanceTimersByTimeAsync(0);
  topic.partitions = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(assigned).toEqual([[0, 1, 2, 3]]);

  topic.partitions = partitions;
  await vi.advanceTimersByTimeAsync(120_000);
  member.stop();
  expect(assigned).toEqual([[0, 1, 2, 3], expected]);
});

test("a static leader that comes back, and need not divide anything, reads partitions that a topic gets later", async () => {
  let joins = 0;
  const { member, topic, assigned } = joinedMember(2, {
    JoinGroup: (values) => {
      const [{ metadata }] = values[6] as [{ metadata: Buffer }];
      return { memberId: "a", generationId: 7, leader: "a", members: [{ memberId: "a", metadata }], skipAssignment: joins++ === 0 };
    },
    SyncGroup: (values) =>
      (values[6] as object[])[0] ?? { assignment: writeAssignment([0, 1].map((partition) => ({ topic: "rows", partition }))) },
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(assigned).toEqual([[0, 1]]);

  topic.partitions = 3;
  await vi.advanceTimersByTimeAsync(60_000);
  member.stop();
  expect(assigned).toEqual([
    [0, 1],
    [0, 1, 2],
  ]);
});

/** As the client says that a connection has ended, or that a request took too long. */
function unanswered(message: string): Error {
  return Object.assign(new Error(message), { code: "PLT_KFK_NETWORK" });
}

function refusal(code: number): Error {
  return Object.assign(new Error(`refused with ${code}`), { errors: [{ apiCode: code }] });
}

/** A member that joins once more, on a connection that is dead. Its heartbeats fail with this error meanwhile, `beats` of them. */
async function joiningAgain(failure: Error, joins: number, beats = 1) {
  const ids: unknown[] = [];
  const lonely = joinedMember(1, {
    JoinGroup: (values) => {
      ids.push(values[3]);
      const [{ metadata }] = values[6] as [{ metadata: Buffer }];
      const answer = { memberId: `m${ids.length}`, generationId: 1, leader: `m${ids.length}`, members: [{ memberId: "a", metadata }] };
      return ids.length === 2 ? new Promise(() => {}) : answer;
    },
    SyncGroup: (values) => (values[6] as object[])[0],
    Heartbeat: () => (ids.length === 2 ? Promise.reject(failure) : {}),
  });
  await vi.advanceTimersByTimeAsync(0);
  lonely.member.rejoin();
  await vi.advanceTimersByTimeAsync(beats * 3_000 + 500);
  await vi.waitFor(() => expect(ids).toHaveLength(joins));
  await vi.advanceTimersByTimeAsync(0);
  lonely.member.stop();
  return { ...lonely, ids };
}

test("a member that the group has removed while it joins again joins as a new one", async () => {
  const { ids, assigned } = await joiningAgain(refusal(25), 3);
  expect(ids).toEqual(["", "m1", ""]);
  expect(assigned).toEqual([[0], [], [0]]);
});

test("an answer about an earlier generation does not end a join", async () => {
  const { ids, assigned } = await joiningAgain(refusal(22), 2);
  expect(ids).toEqual(["", "m1"]);
  expect(assigned).toEqual([[0]]);
});

test("a join is asked for again when a second heartbeat is of an earlier generation: its answer was lost", async () => {
  const { ids, assigned } = await joiningAgain(refusal(22), 3, 2);
  expect(ids).toEqual(["", "m1", "m1"]);
  expect(assigned).toEqual([[0], [0]]);
});

test("partitions are asked for again if the answer with them is lost, without another rebalance", async () => {
  const asked: string[] = [];
  const { member, assigned } = joinedMember(1, {
    SyncGroup: (values) => {
      asked.push(`generation ${String(values[1])}`);
      return asked.length < 3 ? Promise.reject(unanswered("timed out")) : (values[6] as [object])[0];
    },
  });
  await vi.waitFor(() => expect(assigned).toHaveLength(1));
  member.stop();
  expect(asked).toEqual(["generation 1", "generation 1", "generation 1"]);
  expect(assigned).toEqual([[0]]);
});

test("a join is asked for again when a heartbeat was not answered meanwhile", async () => {
  const { ids } = await joiningAgain(unanswered("timed out"), 3);
  expect(ids).toEqual(["", "m1", "m1"]);
});

test("a member that waits for others of its group says so, although nothing fails", async () => {
  let joins = 0;
  const { member, waits } = joinedMember(1, { JoinGroup: () => (joins++ === 0 ? Promise.reject(refusal(79)) : new Promise(() => {})) });
  await vi.advanceTimersByTimeAsync(30_000);
  expect([joins, waits]).toEqual([2, ["the group readers"]]);
  member.stop();
  expect(waits.at(-1)).toBe("end");
});

test("heartbeats that are not answered are one wait, which the next answer ends", async () => {
  let beats = 0;
  const { member, waits, failures } = joinedMember(1, {
    Heartbeat: () => (++beats < 3 ? Promise.reject(unanswered(`timed out ${beats}`)) : {}),
  });
  await vi.advanceTimersByTimeAsync(12_000);
  expect(waits).toEqual(["the group readers", "end", "the group readers", "timed out 1", "timed out 2", "end"]);
  expect(failures).toEqual([]);
  member.stop();
});

test("a heartbeat that is refused for good fails the session", async () => {
  const refused = refusal(30);
  const { waits, failures } = joinedMember(1, { Heartbeat: () => Promise.reject(refused) });
  await vi.advanceTimersByTimeAsync(12_000);
  expect(failures).toEqual([refused]);
  expect(waits).toEqual(["the group readers", "end"]);
});
