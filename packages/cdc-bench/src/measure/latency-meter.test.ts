import { createDecoder } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { LatencyMeter } from "./latency-meter.ts";

test("an event counts once if the clocks differ, however many of its ages are negative", async () => {
  const inAnHourMs = Date.now() + 3_600_000;
  const source = { connector: "postgresql", db: "shop", schema: "public", table: "orders", ts_ms: inAnHourMs };
  const value = { before: null, after: { id: 1 }, source, op: "c", ts_ms: inAnHourMs - 1 };
  const [ahead] = await createDecoder().decode(recordOf(Buffer.from(JSON.stringify(value)), { timestamp: BigInt(inAnHourMs) }));
  const [right] = await createDecoder().decode(
    recordOf(Buffer.from(JSON.stringify({ ...value, source: { ...source, ts_ms: 1 }, ts_ms: 2 })), { timestamp: 3n }),
  );
  const meter = new LatencyMeter();
  for (const event of [ahead, right]) {
    meter.add(event as NonNullable<typeof event>);
  }
  expect(meter.summary()).toMatchObject({ clockSkewEvents: 1, sinceRecord: { count: 2 }, connector: { count: 2 } });
});

test("an event is as old as it is, also after a connector was down for a night", async () => {
  const nineHoursMs = 9 * 3_600_000;
  const committedMs = Date.now() - nineHoursMs;
  const source = { connector: "postgresql", db: "shop", schema: "public", table: "orders", ts_ms: committedMs };
  const value = { before: null, after: { id: 1 }, source, op: "c", ts_ms: committedMs + nineHoursMs };
  const [event] = await createDecoder().decode(recordOf(Buffer.from(JSON.stringify(value)), { timestamp: BigInt(Date.now()) }));
  const meter = new LatencyMeter();
  meter.add(event as NonNullable<typeof event>);
  const { sinceSource, connector } = meter.summary();
  expect(sinceSource.p50Ns / 1e6 / nineHoursMs).toBeCloseTo(1, 2);
  expect(connector.maxNs / 1e6 / nineHoursMs).toBeCloseTo(1, 2);
});

test("ages are whole milliseconds, as timestamps are", async () => {
  const meter = new LatencyMeter();
  for (const ageMs of [0, 0, 4]) {
    const source = { connector: "postgresql", db: "shop", schema: "public", table: "orders", ts_ms: 1_000 };
    const value = { before: null, after: { id: 1 }, source, op: "c", ts_ms: 1_000 + ageMs };
    const [event] = await createDecoder().decode(recordOf(Buffer.from(JSON.stringify(value))));
    meter.add(event as NonNullable<typeof event>);
  }
  expect(meter.summary().connector).toMatchObject({ p50Ns: 0, p99Ns: 4_000_000, maxNs: 4_000_000 });
});

test.each([-1n, 0n])("an event whose record has the timestamp %s has no age since then, and is counted", async (timestamp) => {
  const source = { connector: "postgresql", db: "shop", schema: "public", table: "orders", ts_ms: Date.now() };
  const value = { before: null, after: { id: 1 }, source, op: "c", ts_ms: Date.now() };
  const [event] = await createDecoder().decode(recordOf(Buffer.from(JSON.stringify(value)), { timestamp }));
  const meter = new LatencyMeter();
  meter.add(event as NonNullable<typeof event>);
  expect(meter.summary()).toMatchObject({ eventsWithoutTimestamp: 1, sinceRecord: { count: 0 }, sinceSource: { count: 1 } });
});

test("a commit whose time the connector does not know has no age", async () => {
  const source = { connector: "mysql", db: "shop", table: "orders", ts_ms: 0 };
  const value = { before: null, after: { id: 1 }, source, op: "r", ts_ms: Date.now() };
  const [event] = await createDecoder().decode(recordOf(Buffer.from(JSON.stringify(value)), { timestamp: BigInt(Date.now()) }));
  const meter = new LatencyMeter();
  meter.add(event as NonNullable<typeof event>);
  expect(meter.summary()).toMatchObject({ sinceRecord: { count: 1 }, sinceSource: { count: 0 }, connector: { count: 0 } });
});
