import type { WaitFor } from "@cdckit/consumer";
import { placeOf } from "@cdckit/driver";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { heldPartitions } from "./assignments.ts";
import { LeaderWaits } from "./leader-waits.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const sources = new Map([0, 1].map((partition) => [placeOf("rows", partition), partition + 1]));
const name = "b:2/2";

/** Two partitions that are read, from two brokers. `report`: a second later, librdkafka reports that the second broker is connected, or is not. */
function setUp(failure: string | null) {
  const open = new Map<WaitFor, unknown>();
  const sink = {
    waiting(wait: WaitFor) {
      open.set(wait, null);
      return { failed: (cause: unknown) => void open.set(wait, cause), end: () => void open.delete(wait) };
    },
  };
  const assignments = heldPartitions();
  assignments.add([0, 1].map((partition) => ({ topic: "rows", partition })));
  assignments.all().forEach((held) => Object.assign(held, { isStarting: false, isPlaced: true }));
  const waits = new LeaderWaits({ sink, brokers: "b:1, b:2", assignments, log: { failureOf: (of) => (of === name ? failure : null) } });
  const report = (isSecondConnected: boolean, isConnected = true): void => {
    vi.advanceTimersByTime(1_000);
    waits.take({ isConnected, leaderless: [], sources, unconnected: new Map(isSecondConnected ? [] : [[2, name]]) });
  };
  return { open, report, second: assignments.at("rows", 1) };
}

test("a partition whose broker is not connected, although another one is, is a wait with the reason until it is", () => {
  const { open, report } = setUp(`${name}: Connect to ipv4#127.0.0.1:2 failed: Connection refused`);
  report(false);
  report(false);
  expect([...open]).toEqual([
    [
      { what: "the connection to its broker", host: "b:1, b:2", place: "rows[1]" },
      expect.objectContaining({
        message: `[brokers-unreachable] the broker from which rows[1] is read is not connected: ${name}: Connect to ipv4#127.0.0.1:2 failed: Connection refused`,
      }),
    ],
  ]);
  report(true);
  expect(open.size).toBe(0);
});

test("a certificate that is not trusted is the reason", () => {
  const { open, report } = setUp(`${name}: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed`);
  report(false);
  report(false);
  expect([...open.values()]).toMatchObject([
    { code: "authentication-failed", message: expect.stringContaining("the certificates do not fit") },
  ]);
});

test("a connection on which nothing is to be fetched is not waited for, and neither is one of many if no broker is connected", () => {
  const { open, report, second } = setUp(null);
  Object.assign(second ?? {}, { isPaused: true });
  report(false);
  report(false);
  expect(open.size).toBe(0);
  Object.assign(second ?? {}, { isPaused: false });
  report(false);
  report(false);
  expect(open.size).toBe(1);
  report(false, false);
  expect(open.size).toBe(0);
});
