import { expect, test } from "vitest";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { checkHeartbeats, groupProtocolOf, membershipDefaults } from "./membership-options.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);

test("the default protocol is the classic one", () => {
  expect([undefined, "classic", "consumer"].map((option) => groupProtocolOf(option, makeError))).toEqual([
    "classic",
    "classic",
    "consumer",
  ]);
});

test.each<[unknown, string]>([
  ["Consumer", 'found "Consumer"'],
  [null, "found null"],
  [() => {}, "found function"],
])("%s is no protocol", (option, found) => {
  expect(() => groupProtocolOf(option, makeError)).toThrow(
    `[invalid-option] expected groupProtocol to be "classic" or "consumer", ${found}`,
  );
});

test("a session is as long as the brokers' own where they decide", () => {
  expect(membershipDefaults()).toEqual({ sessionTimeoutMs: 30_000, rebalanceTimeoutMs: 60_000, heartbeatIntervalMs: 3_000 });
  expect(membershipDefaults("consumer").sessionTimeoutMs).toBe(45_000);
});

test("a heartbeat comes before the session is over", () => {
  expect(() => checkHeartbeats(membershipDefaults(), makeError)).not.toThrow();
  for (const heartbeatIntervalMs of [6_000, 6_001]) {
    expect(() => checkHeartbeats({ sessionTimeoutMs: 6_000, heartbeatIntervalMs }, makeError)).toThrow(
      "[invalid-option] expected heartbeatIntervalMs to be smaller than sessionTimeoutMs",
    );
  }
});
