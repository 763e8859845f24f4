import { silentLogger } from "@cdckit/consumer";
import { expect, test, vi } from "vitest";
import { ClientLog, noToken } from "./client-log.ts";
import { isConfluentDriverError } from "./errors.ts";
import { type ConfluentOptions, resolveConfluentOptions } from "./options.ts";
import { ConfluentSession, type SessionParts } from "./session.ts";

/** A session that does not run yet, its log, and what it says while no broker is connected. */
function setUp(isAwaited = true) {
  const log = new ClientLog(silentLogger);
  const waits: unknown[] = [];
  const { tuning } = resolveConfluentOptions({ brokers: ["b:1"] });
  const session = new ConfluentSession({
    consumer: { setDefaultConsumeTimeout: () => {}, on: () => {} },
    subscription: { groupId: "g", topics: ["t"], logger: silentLogger },
    sink: { waiting: () => ({ failed: (error: unknown) => void waits.push(error), end: () => {} }) },
    brokerOffsets: {},
    makeProducer: () => {},
    tuning,
    brokers: "b:1, b:2",
    log,
  } as unknown as SessionParts); // as much as is called
  let failure: unknown = null;
  if (isAwaited) {
    session.givenUp.catch((error: unknown) => (failure = error));
  }
  const reported = async (state: "UP" | "DOWN"): Promise<void> => {
    session.reported(JSON.stringify({ brokers: { "b:1/1": { state } } }));
    await Promise.resolve();
  };
  return { log, waits, reported, failure: () => failure };
}

const refused = {
  severity: 3,
  fac: "FAIL",
  message: "b:2: SASL authentication error: Authentication failed (after 5ms in state AUTH_REQ)",
};

test("a login that is refused while no broker is connected fails the session", async () => {
  const { log, reported, failure } = setUp();
  log.line(refused);
  await reported("DOWN");
  await reported("DOWN");
  expect(failure()).toMatchObject({ code: "authentication-failed" });
});

test("a client that is refused before its session listens ends no process: its start was refused already, and nobody waits for the session", async () => {
  const rejected = vi.fn<(reason: unknown) => void>();
  process.on("unhandledRejection", rejected);
  try {
    const { log, reported } = setUp(false);
    log.line(refused);
    await reported("DOWN");
    await reported("DOWN");
    await new Promise((resolve) => setImmediate(resolve));
    expect(rejected).not.toHaveBeenCalled();
  } finally {
    process.off("unhandledRejection", rejected);
  }
});

test("a login that one broker refused before another was connected is not why the connection is lost later", async () => {
  const { log, waits, reported, failure } = setUp();
  log.line(refused);
  for (const state of ["UP", "DOWN", "DOWN", "DOWN"] as const) {
    await reported(state);
  }
  expect(failure()).toBe(null);
  expect(waits.map((error) => isConfluentDriverError(error) && error.code)).toEqual(["brokers-unreachable"]);
});

test("a token that cannot be had is waited for, and is said to be the reason also if that shows only after the connection is lost", async () => {
  const { log, waits, reported, failure } = setUp();
  for (const state of ["UP", "DOWN", "DOWN"] as const) {
    await reported(state);
  }
  log.loginFailed();
  await reported("DOWN");
  log.loginFailed();
  await reported("DOWN");
  expect(failure()).toBe(null);
  expect(waits.map((error) => (error as Error).message)).toEqual([
    "[brokers-unreachable] no broker is connected",
    `[authentication-failed] ${noToken}`,
  ]);
});

test("a broker that refuses a token is the reason, and not that there is none", async () => {
  const { log, reported, failure } = setUp();
  log.line(refused);
  log.loginFailed();
  await reported("DOWN");
  await reported("DOWN");
  expect(failure()).toMatchObject({ message: expect.stringContaining("b:2: SASL authentication error") as string });
});

/** A session that has run without getting a partition and is closed: what it has asked of the client. */
async function closedIdle(options: Partial<ConfluentOptions>): Promise<readonly string[]> {
  const asked: string[] = [];
  const note =
    (what: string) =>
    (...values: readonly unknown[]): void => {
      asked.push(what);
      const done = values.at(-1);
      if (typeof done === "function") {
        (done as (error: null) => void)(null);
      }
    };
  const { tuning } = resolveConfluentOptions({ brokers: ["b:1"], ...options });
  const session = new ConfluentSession({
    consumer: {
      setDefaultConsumeTimeout: () => {},
      on: () => {},
      removeAllListeners: () => {},
      subscribe: note("subscribe"),
      unsubscribe: note("unsubscribe"),
      disconnect: note("disconnect"),
    },
    subscription: { groupId: "g", topics: ["t"], logger: silentLogger },
    sink: {},
    brokerOffsets: { close: async () => {} },
    makeProducer: () => {},
    tuning,
    brokers: "b:1",
    log: new ClientLog(silentLogger),
  } as unknown as SessionParts); // as much as is called
  session.run(["t"]);
  await session.close(1_000);
  return asked;
}

test("a member without partitions leaves its group before it ends: librdkafka would not, and the next rebalance would wait for it", async () => {
  expect(await closedIdle({})).toEqual(["subscribe", "unsubscribe", "disconnect"]);
});

test.each<[string, Partial<ConfluentOptions>]>([
  ["a static member, which comes back", { groupInstanceId: "stock-0" }],
  ["a member by KIP-848, which librdkafka lets leave", { groupProtocol: "consumer" }],
])("%s, is left to librdkafka", async (_, options) => {
  expect(await closedIdle(options)).toEqual(["subscribe", "disconnect"]);
});
