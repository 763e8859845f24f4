import { bundledRecording, loadRecording, memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { ConsumerOptions } from "./options.ts";

interface Line {
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Consumes the first rows of plain JSON, and returns the warnings. */
async function warningsOf(
  decoder: NonNullable<ConsumerOptions["decoder"]>,
  more: (consumer: Consumer) => void = () => {},
  atEnd: (health: ReturnType<Consumer["health"]>) => void = () => {},
): Promise<readonly Line[]> {
  const topic = "jn.sales.salesorderdetail";
  const records = (await loadRecording(bundledRecording("salesorderdetail/json").file)).slice(0, 300);
  const clock = virtualClock();
  const broker = new MemoryBroker({ [topic]: 1 }, { clock });
  broker.append(topic, ...records.map(({ key, value }) => ({ key, value })));
  const lines: Line[] = [];
  const nothing = (): void => {};
  const warn = (facts: object, message = ""): void => void lines.push({ message, facts: { ...facts } });
  const logger = { debug: nothing, info: nothing, error: nothing, warn };
  const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: [topic], signals: false, clock, logger, decoder });
  let handled = 0;
  consumer.on("*", () => {
    handled++;
    if (handled === records.length) {
      void consumer.stop();
    }
  });
  more(consumer);
  await clock.run(consumer.run());
  atEnd(consumer.health());
  return lines;
}

describe("a topic whose values carry no types", () => {
  test("is reported once, with the columns and the hint to paste", async () => {
    const reasons: string[] = [];
    const [line, ...more] = await warningsOf({}, undefined, (health) => void reasons.push(...health.reasons));
    expect(more).toEqual([]);
    expect(reasons).toEqual(["stopped", line?.message]);
    expect(line?.message).toMatch(/unitprice \(decimal or bytes in base64\).*modifieddate \(microseconds\).*cdc-bench hints/);
    const [, hint = ""] = /decoder\.topics: (\{.*\}); cdc-bench/.exec(line?.message ?? "") ?? [];
    expect(JSON.parse(hint)).toMatchObject({
      "jn.sales.salesorderdetail": {
        columns: { modifieddate: "io.debezium.time.MicroTimestamp", unitprice: { parameters: { scale: "?" } } },
      },
    });
  });

  test("is not reported if its columns are hinted", async () => {
    const decimal = { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "4" } };
    const columns = { unitprice: decimal, unitpricediscount: decimal, linetotal: decimal, modifieddate: "io.debezium.time.MicroTimestamp" };
    expect(await warningsOf({ topics: { "jn.sales.salesorderdetail": { columns } } })).toEqual([]);
  });

  test("is not reported of a column that a hint says is text", async () => {
    const columns = Object.fromEntries(
      ["unitprice", "unitpricediscount", "linetotal", "modifieddate"].map((name) => [name, "io.debezium.data.Enum"]),
    );
    expect(await warningsOf({ topics: { "jn.sales.salesorderdetail": { columns } } })).toEqual([]);
  });

  test("is reported if hints name columns that do not come, or topics that are not read", async () => {
    const columns = { unit_price: "bytes" };
    const lines = await warningsOf({ topics: { "jn.sales.salesorderdetail": { columns }, elsewhere: { columns } } });
    expect(lines.map(({ facts: { topics, columns: named } }) => topics ?? named)).toEqual([
      ["elsewhere"],
      expect.arrayContaining(["unitprice"]),
      ["unit_price"],
    ]);
  });

  test("is reported so, too, if operations of another table are selected", async () => {
    const decoder = { topics: { "jn.sales.salesorderdetail": { columns: { unit_price: "bytes" } } } };
    const missing = async (pattern: string): Promise<readonly unknown[]> => {
      const lines = await warningsOf(decoder, (consumer) => consumer.on(pattern, { ops: ["create"], batch: () => {} }));
      return lines.flatMap(({ facts: { columns } }) => columns).filter((name) => name === "unit_price");
    };
    expect(await missing("sales.other")).toEqual(["unit_price"]);
  });
});
