import { expect, test } from "vitest";
import { GroupLease } from "./group-lease.ts";
import { readReport, type Report } from "./statistics.ts";

const none = { connections: [], stopped: [], leaderless: [], sources: new Map<string, number>(), unconnected: new Map<number, string>() };
const nothing = { atMs: 0, heartbeats: 0, ...none };

/** A lease whose reports are read `lateMs` after librdkafka has written them, by clocks that differ by a day or so, or by nothing. */
function leaseOf(differenceMs = 100_000_000): {
  readonly take: (report: Partial<Report>, lateMs?: number) => void;
  /** The machine is suspended: only the wall clock goes on. */
  readonly suspend: (forMs: number) => void;
  readonly valid: number[];
} {
  const valid: number[] = [];
  let nowMs = 0;
  let suspendedMs = 0;
  const lease = new GroupLease({
    sessionTimeoutMs: 10_000,
    acknowledged: (validForMs) => valid.push(validForMs),
    nowMs: () => nowMs,
    wallMs: () => nowMs + suspendedMs,
  });
  const suspend = (forMs: number): void => {
    suspendedMs += forMs;
  };
  const take = (report: Partial<Report>, lateMs = 0): void => {
    const whole = { ...nothing, isMember: true, areAnswered: true, isConnected: true, ...report };
    nowMs = whole.atMs + differenceMs + lateMs;
    lease.take(whole);
  };
  return { take, suspend, valid };
}

test("a heartbeat that was answered counts from the report before it, once the next report finds a member", () => {
  const { take, valid } = leaseOf();
  take({ atMs: 1_000, heartbeats: 1 });
  take({ atMs: 2_000, heartbeats: 2 });
  expect(valid).toEqual([]);
  take({ atMs: 3_000, heartbeats: 2 });
  expect(valid).toEqual([8_000]);
  take({ atMs: 4_000, heartbeats: 2 });
  expect(valid).toEqual([8_000]);
});

test("an unanswered heartbeat says nothing, and neither does a refused one", () => {
  const { take, valid } = leaseOf();
  take({ atMs: 1_000, heartbeats: 1 });
  take({ atMs: 2_000, heartbeats: 2, areAnswered: false });
  take({ atMs: 3_000, heartbeats: 2 });
  take({ atMs: 4_000, heartbeats: 3 });
  take({ atMs: 5_000, heartbeats: 3, isMember: false });
  take({ atMs: 6_000, heartbeats: 3 });
  expect(valid).toEqual([]);
});

test("after a freeze, an old report gives no time", () => {
  const { take, valid } = leaseOf();
  take({ atMs: 1_000, heartbeats: 1 });
  take({ atMs: 2_000, heartbeats: 2 });
  take({ atMs: 3_000, heartbeats: 2 }, 60_000); // written before the freeze, read after it
  expect(valid).toEqual([10_000 - 62_000]);
});

test("a report that was written before the machine was suspended, and is read after it, gives no time", () => {
  const { take, suspend, valid } = leaseOf();
  take({ atMs: 1_000, heartbeats: 1 });
  take({ atMs: 2_000, heartbeats: 2 });
  suspend(60_000);
  take({ atMs: 3_000, heartbeats: 2 });
  expect(valid).toEqual([10_000 - 62_000]);
});

test("a wall clock that is set back gives no more time", () => {
  const { take, suspend, valid } = leaseOf();
  take({ atMs: 1_000, heartbeats: 1 });
  take({ atMs: 2_000, heartbeats: 2 });
  suspend(-60_000);
  take({ atMs: 3_000, heartbeats: 2 });
  expect(valid).toEqual([8_000]);
});

test("where librdkafka has the same clock, reports that are all read late give no time beyond the session", () => {
  const { take, valid } = leaseOf(0);
  take({ atMs: 1_000, heartbeats: 1 }, 2_500);
  take({ atMs: 2_000, heartbeats: 2 }, 2_500);
  take({ atMs: 3_000, heartbeats: 2 }, 2_500);
  expect(valid).toEqual([10_000 - (5_500 - 1_000)]);
});

test("what is no report is none", () => {
  expect(readReport("{")).toBeNull();
  expect(readReport("{}")).toMatchObject({ isMember: false, heartbeats: 0, areAnswered: false, stopped: [] });
});
