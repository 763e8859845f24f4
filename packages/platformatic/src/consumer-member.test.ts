import { silentLogger } from "@cdckit/consumer";
import { expect, test, vi } from "vitest";
import { ConsumerMember } from "./consumer-member.ts";
import type { GroupMemberParts } from "./group-member.ts";

test("heartbeats that are not answered after the join are one wait, which the next answer ends", async () => {
  const waits: string[] = [];
  let beats = 0;
  const answer = { memberEpoch: 1, heartbeatIntervalMs: 1, assignment: null };
  const cluster = {
    brokers: "localhost:9092",
    coordinator: () => Promise.resolve({ host: "localhost", port: 9092 }),
    ask: async () => {
      beats++;
      if (beats === 2 || beats === 3) {
        throw Object.assign(new Error(`timed out ${beats}`), { code: "PLT_KFK_NETWORK" });
      }
      return answer;
    },
    anywhere: () => Promise.reject(new Error("no configuration")),
    forget: () => {},
  };
  const sink = {
    waiting: ({ what }: { what: string }) => {
      waits.push(what);
      return { failed: ({ message }: Error) => void waits.push(message), end: () => void waits.push("end") };
    },
  };
  const member = new ConsumerMember({
    cluster: cluster as unknown as GroupMemberParts["cluster"], // a member asks no more of it
    groupId: "readers",
    tuning: { sessionTimeoutMs: 45_000, rebalanceTimeoutMs: 60_000 } as GroupMemberParts["tuning"], // all that a member reads of it
    logger: silentLogger,
    sink: sink as unknown as GroupMemberParts["sink"], // it is told of waits only
    topics: () => ["rows"],
    owned: () => [],
    countPartitions: () => Promise.resolve(new Map()),
    assigned: () => {},
    lost: () => {},
    acknowledged: () => {},
    fail: () => {},
  });
  member.start();
  await vi.waitFor(() => expect(waits).toEqual(["the group readers", "timed out 2", "timed out 3", "end"]));
  member.stop();
});
