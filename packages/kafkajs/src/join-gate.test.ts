import type { Cluster } from "kafkajs";
import { expect, test } from "vitest";
import { type CommitInGeneration, gateJoins, type JoinRequest } from "./join-gate.ts";

/** A coordinator whose every join makes a new generation, and that takes commits while it is connected. */
function setUp() {
  const commits: unknown[] = [];
  const calls: string[] = [];
  const joins: CommitInGeneration[] = [];
  const failures: Error[] = [];
  let generationId = 0;
  let isConnected = true;
  let isOver = false;
  const broker = {
    isConnected: () => isConnected,
    joinGroup: async (_request: JoinRequest) => {
      const failure = failures.shift();
      if (failure !== undefined) {
        throw failure;
      }
      return { memberId: "m", generationId: ++generationId, members: [] };
    },
    syncGroup: async () => ({}),
    leaveGroup: async () => void calls.push("the group forgets the member"),
    offsetCommit: async (request: unknown) => void commits.push(request),
  };
  const answers: Error[] = [];
  const refresh = async (): Promise<void> => {
    const failure = answers.shift();
    if (failure !== undefined) {
      throw failure;
    }
  };
  const cluster = {
    refreshMetadata: refresh,
    refreshMetadataIfNecessary: refresh,
    async findGroupCoordinator() {
      return this.findBroker();
    },
    findBroker: async () => {
      isConnected = true;
      return broker;
    },
  };
  gateJoins(cluster as unknown as Cluster, {
    before: () => Promise.resolve(),
    beforeFetch: () => Promise.resolve(),
    joined: (_group, commit) => void joins.push(commit),
    outOfRange: ({ topic, partition }) => void calls.push(`out of range: ${topic}[${partition}]`),
    leaving: () => void calls.push("leaving"),
    topicUnknown: () => void calls.push("a topic is unknown"),
    isOver: () => isOver,
  });
  const join = async (): Promise<void> => void (await (await cluster.findGroupCoordinator()).joinGroup({ groupId: "g", memberId: "" }));
  const leave = async (): Promise<void> => (await cluster.findGroupCoordinator()).leaveGroup();
  const sync = async (): Promise<void> => void (await (await cluster.findGroupCoordinator()).syncGroup());
  return {
    cluster,
    commits,
    joins,
    calls,
    failures,
    answers,
    join,
    sync,
    leave,
    disconnect: () => (isConnected = false),
    end: () => (isOver = true),
  };
}

test("a failure of a join that may pass is one after which kafkajs joins again, and any other stays what it is", async () => {
  const { failures, join, end } = setUp();
  const loading = Object.assign(new Error("the coordinator is loading"), { type: "GROUP_LOAD_IN_PROGRESS", retriable: true });
  const unknown = Object.assign(new Error("who is that"), { type: "UNKNOWN_MEMBER_ID", retriable: true });
  const refused = Object.assign(new Error("no"), { type: "GROUP_AUTHORIZATION_FAILED", retriable: false });
  const cut = Object.assign(new Error("the connection is gone"), { name: "KafkaJSConnectionError", retriable: true });
  failures.push(loading);
  await expect(join(), "the first join, whose failure is one of the start").rejects.toBe(loading);
  await join();
  failures.push(loading, unknown, refused, cut, loading);
  await expect(join()).rejects.toMatchObject({ type: "REBALANCE_IN_PROGRESS", message: loading.message, cause: loading });
  await expect(join()).rejects.toBe(unknown);
  await expect(join()).rejects.toBe(refused);
  await expect(join()).rejects.toBe(cut);
  end();
  await expect(join(), "a session that is over").rejects.toBe(loading);
});

test("what a generation has to commit is sent as that generation's, also after the next join and on a new connection", async () => {
  const { commits, joins, join, disconnect } = setUp();
  await join();
  await join();
  const topics = [{ topic: "t", partitions: [{ partition: 0, offset: "7", metadata: null }] }];
  await joins[0]?.({ topics });
  disconnect();
  await joins[1]?.({ topics });
  expect(commits).toEqual([1, 2].map((groupGenerationId) => ({ groupId: "g", memberId: "m", groupGenerationId, topics })));
});

test("the driver hears of a leave before the group does, because the group gives the partitions to others at once", async () => {
  const { calls, join, leave } = setUp();
  await join();
  await leave();
  expect(calls).toEqual(["leaving", "the group forgets the member"]);
});

test.each(["-2", "-1"])(
  "what kafkajs would commit in place of an offset that is out of range, %s, is not sent, and the driver hears of it",
  async (offset) => {
    const { cluster, commits, calls, join, disconnect } = setUp();
    await join();
    disconnect(); // so that kafkajs looks for the coordinator's broker again
    const coordinator = await cluster.findBroker();
    const reset = { topic: "t", partitions: [{ partition: 3, offset, metadata: null }] };
    await coordinator.offsetCommit({ groupId: "g", memberId: "m", groupGenerationId: 1, topics: [reset] });
    expect(commits).toEqual([]);
    expect(calls).toEqual(["out of range: t[3]"]);
  },
);

test("that the brokers do not know a topic is reported, whoever asks", async () => {
  const { cluster, calls, answers } = setUp();
  const unknown = Object.assign(new Error("no such topic"), { type: "UNKNOWN_TOPIC_OR_PARTITION", retriable: true });
  const moving = Object.assign(new Error("no leader"), { type: "LEADER_NOT_AVAILABLE", retriable: true });
  answers.push(unknown, unknown, moving);
  await expect(cluster.refreshMetadata()).rejects.toBe(unknown);
  await expect(cluster.refreshMetadataIfNecessary()).rejects.toBe(unknown);
  await expect(cluster.refreshMetadata()).rejects.toBe(moving);
  expect(calls).toEqual(["a topic is unknown", "a topic is unknown"]);
});

test("a leader that cannot ask about the topics after its join joins again", async () => {
  const { cluster, answers, join, sync } = setUp();
  const unknown = Object.assign(new Error("no such topic"), { type: "UNKNOWN_TOPIC_OR_PARTITION", retriable: true });
  answers.push(unknown, unknown);
  await join();
  await expect(cluster.refreshMetadata()).rejects.toMatchObject({ type: "REBALANCE_IN_PROGRESS", cause: unknown });
  await expect(cluster.refreshMetadata()).rejects.toBe(unknown); // kafkajs asks outside of a join
  answers.push(unknown);
  await join();
  await sync();
  await expect(cluster.refreshMetadata()).rejects.toBe(unknown);
});
