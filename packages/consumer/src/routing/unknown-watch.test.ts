import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "../consumer.ts";
import type { Sink } from "../sink.ts";

const topic = "shop.public.orders";
const key = JSON.stringify({ id: 1 });
const row = JSON.stringify({ id: 1, __op: "c" });

/** Consumes these values, and returns what the consumer says of them. */
async function consume(attach: (consumer: Consumer) => unknown, values: readonly (string | null)[]) {
  const clock = virtualClock();
  const broker = new MemoryBroker({ [topic]: 1 }, { clock });
  broker.append(topic, ...values.map((value) => ({ key, value })));
  const warnings: object[] = [];
  const nothing = (): void => {};
  const warn = (facts: object, message = ""): void => void warnings.push({ ...facts, message });
  const logger = { debug: nothing, info: nothing, error: nothing, warn };
  const consumer = createConsumer({
    driver: memory({ broker }),
    groupId: "g",
    topics: [topic],
    from: "earliest",
    signals: false,
    clock,
    logger,
  });
  attach(consumer);
  clock.after(1_000, () => void consumer.stop());
  await clock.run(consumer.run());
  const { reasons, counts } = consumer.health();
  return { reasons: reasons.filter((reason) => reason !== "stopped"), counts, warnings };
}

const sink: Sink = { name: "copy", claim: async () => [], apply: async () => {}, close: async () => {} };
const takers: readonly (readonly [string, (consumer: Consumer) => unknown])[] = [
  ["a sink", (consumer) => consumer.to(sink)],
  ["a handler", (consumer) => consumer.on("orders", { create: () => {}, delete: () => {} })],
];

describe.each(takers)("values that %s does not take", (_, attach) => {
  test("and that are the text null are told as deletes, with what to set", async () => {
    const { reasons, counts, warnings } = await consume(attach, [row, "null", "null"]);
    const what = /^2 values of shop\.public\.orders with a key are the text null.*delete\.tombstone\.handling\.mode=rewrite/;
    expect(reasons).toEqual([expect.stringMatching(what)]);
    expect(warnings).toEqual([expect.objectContaining({ topic, partition: 0, offset: 1n })]);
    expect(counts.filtered["control-event-without-handler"]).toBe(2);
  });

  test("and that are JSON in a JSON string are told, with the converter to set", async () => {
    const { reasons, warnings } = await consume(attach, [row, JSON.stringify(row), JSON.stringify("a {")]);
    expect(reasons).toEqual([
      expect.stringMatching(/^1 value of shop\.public\.orders is a JSON string that holds JSON.*StringConverter/),
      expect.stringContaining("1 value of shop.public.orders is of no envelope that is known"),
    ]);
    expect(warnings).toHaveLength(2);
  });

  test("and that no envelope knows are told, with their number", async () => {
    const { reasons, warnings } = await consume(attach, [row, "7", "[1]"]);
    expect(reasons).toEqual([expect.stringContaining("2 values of shop.public.orders are of no envelope that is known")]);
    expect(warnings).toHaveLength(1);
  });
});

test("values that no sink takes are told, although a handler of all events beside it takes them", async () => {
  const { reasons, counts, warnings } = await consume((consumer) => consumer.to(sink).on("*", () => {}), [row, "null", "null"]);
  const what =
    /^2 values of shop\.public\.orders with a key are the text null, and no sink took them: .*delete\.tombstone\.handling\.mode=rewrite/;
  expect(reasons).toEqual([expect.stringMatching(what)]);
  expect(warnings).toHaveLength(1);
  expect(counts.filtered["control-event-without-handler"]).toBe(0);
});

test("values that a handler of unknown events takes beside a sink, or one of all events alone, are not told", async () => {
  for (const attach of [
    (consumer: Consumer) => consumer.to(sink).on("unknown", () => {}),
    (consumer: Consumer) => consumer.on("*", () => {}),
  ]) {
    expect(await consume(attach, [row, "null"])).toMatchObject({ reasons: [], warnings: [] });
  }
});

test("values that a handler of unknown events takes are not told", async () => {
  const { reasons, warnings } = await consume(
    (consumer) => consumer.on("orders", { create: () => {} }).on("unknown", () => {}),
    [row, "null"],
  );
  expect([reasons, warnings]).toEqual([[], []]);
});
