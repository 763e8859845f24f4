import { memory, virtualClock } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createConsumer } from "./consumer.ts";
import type { KafkaDriver } from "./driver.ts";

test("if a client keeps its membership and does not fetch, health() reports it within a minute, until it fetches again", async () => {
  const clock = virtualClock({ turnMs: 1 });
  const driver = memory({ topics: { rows: 1 } });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["rows"], signals: false, clock });
  consumer.on("*", () => {});
  driver.broker.append("rows", { value: '{"id":1}' });
  const running = consumer.run();
  await clock.advance(5_000);
  expect(consumer.health()).toMatchObject({ live: true, ready: true, reasons: [] });
  const heal = driver.broker.faults.inject({ on: "fetch", how: "hangs", times: Number.POSITIVE_INFINITY });
  driver.broker.append("rows", { value: '{"id":2}' }, { value: '{"id":3}' });
  await clock.advance(60_000);
  expect(driver.broker.group("g").members).toHaveLength(1);
  expect(consumer.health()).toMatchObject({ phase: "running", live: false, ready: false });
  expect(consumer.health().reasons).toEqual([expect.stringMatching(/^rows\[0\] has 2 records to read, and nothing has moved for \d+ s/)]);
  heal();
  await clock.advance(20_000);
  expect(consumer.health()).toMatchObject({ live: true, ready: true, reasons: [], counts: { handled: 3 } });
  const stopping = consumer.stop();
  await clock.advance(20_000);
  await Promise.all([stopping, running]);
});

test("a client that fetches none of its many partitions is logged in a few lines, and has its connections replaced once", async () => {
  const clock = virtualClock({ turnMs: 1 });
  const inner = memory({ topics: { rows: 200 } });
  const replaced: string[] = [];
  const driver: KafkaDriver = {
    name: inner.name,
    capabilities: inner.capabilities,
    connect: async (...parts) => Object.assign(await inner.connect(...parts), { reconnect: (why: string) => void replaced.push(why) }),
  };
  const lines: string[] = [];
  const ignore = (): void => {};
  const logger = { debug: ignore, info: ignore, error: ignore, warn: (_: object, message: string) => void lines.push(message) };
  const consumer = createConsumer({ driver, groupId: "g", topics: ["rows"], signals: false, clock, logger }).on("*", () => {});
  const running = consumer.run();
  await clock.advance(5_000);
  inner.broker.faults.inject({ on: "fetch", how: "hangs", times: Number.POSITIVE_INFINITY });
  inner.broker.append("rows", ...Array.from({ length: 400 }, (_, id) => ({ partition: id % 200, value: `{"id":${id}}` })));
  await clock.advance(60_000);
  expect(consumer.health()).toMatchObject({ live: false, ready: false });
  expect(lines.filter((line) => line === "the consumer may be stuck")).toHaveLength(11);
  expect(replaced).toHaveLength(1);
  const stopping = consumer.stop();
  await clock.advance(20_000);
  await Promise.all([stopping, running]);
});

test("a partition that starts at a sink's checkpoint, at the end of its log, is not stuck although the group's commit is behind", async () => {
  const clock = virtualClock({ turnMs: 1 });
  const driver = memory({ topics: { rows: 1 } });
  const options = { driver, groupId: "g", topics: ["rows"], signals: false, clock } as const;
  driver.broker.append("rows", { value: '{"id":1}' });
  const before = createConsumer(options).on("*", () => {});
  const ran = before.run();
  await clock.advance(5_000);
  const stopped = before.stop();
  await clock.advance(20_000);
  await Promise.all([stopped, ran]);
  expect(driver.broker.committed("g", "rows", 0)).toBe(1n);
  // The process was killed after the sink's transaction and before the commit.
  driver.broker.append("rows", { value: '{"id":2}' }, { value: '{"id":3}' });
  const consumer = createConsumer(options).to({
    name: "copy",
    claim: async (_groupId, assignments) => assignments.map((assignment) => ({ assignment, offset: 3n })),
    apply: async () => {},
    close: async () => {},
  });
  const running = consumer.run();
  await clock.advance(120_000);
  expect(consumer.health()).toMatchObject({ live: true, ready: true, reasons: [], counts: { reconnects: 0 } });
  const heal = driver.broker.faults.inject({ on: "fetch", how: "hangs", times: Number.POSITIVE_INFINITY });
  driver.broker.append("rows", { value: '{"id":4}' });
  await clock.advance(60_000);
  expect(consumer.health(), "a record that is there to be read").toMatchObject({ live: false, ready: false });
  expect(consumer.health().reasons).toEqual([expect.stringMatching(/^rows\[0\] has 1 records to read/)]);
  heal();
  const stopping = consumer.stop();
  await clock.advance(20_000);
  await Promise.all([stopping, running]);
});

test("if brokers do not answer, a consumer is not ready but live, because a restart would not help", async () => {
  const clock = virtualClock({ turnMs: 1 });
  const driver = memory({ topics: { rows: 1 } });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["rows"], signals: false, clock });
  consumer.on("*", () => {});
  const running = consumer.run();
  await clock.advance(5_000);
  const heal = driver.broker.faults.inject({ on: "ranges", how: "hangs", times: Number.POSITIVE_INFINITY });
  await clock.advance(120_000);
  expect(consumer.health()).toMatchObject({ live: true, ready: false });
  expect(consumer.health().reasons).toEqual([expect.stringMatching(/^the brokers have not said for \d+ s where the logs end$/)]);
  heal();
  await clock.advance(20_000);
  expect(consumer.health()).toMatchObject({ live: true, ready: true, reasons: [] });
  const stopping = consumer.stop();
  await clock.advance(20_000);
  await Promise.all([stopping, running]);
});
