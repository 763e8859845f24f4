import { createRequire } from "node:module";
import { afterEach, expect, test, vi } from "vitest";
import { HeartbeatInterval } from "./heartbeat-interval.ts";

/** The part of kafkajs' own class that decides whether a heartbeat is due. */
interface Group {
  memberId: string;
  coordinator: { heartbeat: () => Promise<void> };
  heartbeat(asked: { readonly interval: unknown }): Promise<void>;
}
const ConsumerGroup = createRequire(import.meta.url)("kafkajs/src/consumer/consumerGroup") as new (parts: object) => Group;

const hourMs = 3_600_000;
let nowMs = 1_000;
let wallMs = 1_700_000_000_000;

function passes(ms: number): void {
  nowMs += ms;
  wallMs += ms;
}

function setUp(intervalOf: (interval: HeartbeatInterval) => unknown): { readonly ask: () => Promise<number> } {
  vi.spyOn(Date, "now").mockImplementation(() => wallMs);
  const interval = new HeartbeatInterval(3_000, { nowMs: () => nowMs, wallMs: () => wallMs });
  let beats = 0;
  const logger = { namespace: () => ({}) };
  const group = new ConsumerGroup({ logger, instrumentationEmitter: { emit: () => interval.sent() }, topics: [], topicConfigurations: {} });
  group.memberId = "member";
  group.coordinator = { heartbeat: async () => void beats++ };
  const ask = async (): Promise<number> => {
    await group.heartbeat({ interval: intervalOf(interval) });
    return beats;
  };
  return { ask };
}

afterEach(() => {
  vi.restoreAllMocks();
});

test("kafkajs alone sends no heartbeat for as long as the wall clock was set back", async () => {
  const { ask } = setUp(() => 3_000);
  passes(3_000);
  expect(await ask()).toBe(1);
  wallMs -= hourMs;
  passes(60_000);
  expect(await ask()).toBe(1);
});

test("with this interval it goes on with its heartbeats, one in each interval, whether the clock was set back or forward", async () => {
  const { ask } = setUp((interval) => interval);
  expect(await ask()).toBe(0);
  passes(2_999);
  expect(await ask()).toBe(0);
  passes(1);
  expect(await ask()).toBe(1);
  wallMs -= hourMs;
  passes(2_999);
  expect(await ask()).toBe(1);
  passes(1);
  expect(await ask()).toBe(2);
  passes(2_999);
  expect(await ask()).toBe(2);
  passes(1);
  expect(await ask()).toBe(3);
  wallMs += hourMs; // one comes early
  expect(await ask()).toBe(4);
  passes(2_999);
  expect(await ask()).toBe(4);
  passes(1);
  expect(await ask()).toBe(5);
});
