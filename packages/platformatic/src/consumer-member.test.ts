import { silentLogger } from "@cdckit/consumer";
import { expect, onTestFinished, test, vi } from "vitest";
import { ConsumerMember } from "./consumer-member.ts";
import type { GroupMemberParts } from "./group-member.ts";
import { codes } from "./low-level-client.ts";

/** A member whose heartbeats are answered so, what it waits for, and what it fails with. */
function memberThat(beat: (count: number) => object, tuning: Partial<GroupMemberParts["tuning"]> = {}) {
  const waits: string[] = [];
  const failures: unknown[] = [];
  let beats = 0;
  const cluster = {
    brokers: "localhost:9092",
    coordinator: () => Promise.resolve({ host: "localhost", port: 9092 }),
    ask: async () => beat(++beats),
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
    tuning: { sessionTimeoutMs: 45_000, rebalanceTimeoutMs: 60_000, ...tuning } as GroupMemberParts["tuning"], // all that a member reads of it
    logger: silentLogger,
    sink: sink as unknown as GroupMemberParts["sink"], // it is told of waits only
    topics: () => ["rows"],
    owned: () => [],
    countPartitions: () => Promise.resolve(new Map()),
    assigned: () => {},
    lost: () => {},
    acknowledged: () => {},
    fail: (error) => void failures.push(error),
  });
  onTestFinished(() => member.stop());
  return { member, waits, failures };
}

function refused(code: number): Error {
  return Object.assign(new Error(`refused with ${code}`), { errors: [{ apiCode: code }] });
}

test("heartbeats that are not answered after the join are one wait, which the next answer ends", async () => {
  const { member, waits } = memberThat((count) => {
    if (count === 2 || count === 3) {
      throw Object.assign(new Error(`timed out ${count}`), { code: "PLT_KFK_NETWORK" });
    }
    return { memberEpoch: 1, heartbeatIntervalMs: 1, assignment: null };
  });
  member.start();
  await vi.waitFor(() => expect(waits).toEqual(["the group readers", "timed out 2", "timed out 3", "end"]));
});

test("a member whose instance id another one has and keeps was not let in, and says which id that is", async () => {
  const { member, failures } = memberThat(
    () => {
      throw refused(codes.unreleasedInstance);
    },
    { groupInstanceId: "stock-0", sessionTimeoutMs: -2_000 }, // it has waited long enough for the end of the other one's session
  );
  member.start();
  await vi.waitFor(() => expect(failures).toHaveLength(1));
  expect(failures).toMatchObject([
    { code: "fenced", message: expect.stringMatching(/\(stock-0\), and the group did not let this one in/) as string },
  ]);
});

test("a member whose instance id another one has taken says which id that is", async () => {
  const { member, failures } = memberThat(
    () => {
      throw refused(codes.fencedInstance);
    },
    { groupInstanceId: "stock-0" },
  );
  member.start();
  await vi.waitFor(() => expect(failures).toHaveLength(1));
  expect(failures).toMatchObject([
    { code: "fenced", message: expect.stringMatching(/\(stock-0\) and has taken this one's place/) as string },
  ]);
});

test("a heartbeat that the client cannot put into bytes is not sent again without end", async () => {
  const { member, failures } = memberThat(() => {
    throw new TypeError("values.map is not a function");
  });
  member.start();
  await vi.waitFor(() => expect(failures).toMatchObject([{ name: "TypeError" }]));
});
