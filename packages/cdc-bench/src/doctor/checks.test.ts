import type { KafkaRecord, SchemaSource } from "@cdckit/decode";
import { expect, test } from "vitest";
import { extentOf } from "../load/cluster.ts";
import { checkSample, checkTopic } from "./checks.ts";
import type { Check } from "./doctor-report.ts";

function clusterWith(ends: readonly number[]): Parameters<typeof checkTopic>[0] {
  const fetchTopicOffsets = async () => ends.map((end, partition) => ({ partition, offset: `${end}`, high: `${end}`, low: "0" }));
  return { heldBackOf: async () => [], extentsOf: (names) => Promise.all(names.map((name) => extentOf({ fetchTopicOffsets }, name))) };
}

test.each([
  [[44], "orders: 1 partition, at most 44 records"],
  [[1_000, 1_000], "orders: 2 partitions, at most 2,000 records"],
  [[1], "orders: 1 partition, at most 1 record"],
  [[0, 0, 0], "orders: 3 partitions, no records to read"],
])("a topic that ends at the offsets %j has so many records at most: offsets may have none", async (ends, detail) => {
  const checks: Check[] = [];
  for await (const check of checkTopic(clusterWith(ends), "orders")) {
    checks.push(check);
  }
  expect(checks).toEqual([{ name: "topic", status: "ok", detail }]);
});

/** A record that names schema 7, as Confluent's serializers do. */
async function* framed(): AsyncGenerator<KafkaRecord> {
  yield { topic: "orders", partition: 0, offset: 0n, timestamp: 0n, headers: [], key: null, value: Buffer.from([0, 0, 0, 0, 7, 1]) };
}

const refusing: SchemaSource = {
  peek: () => undefined,
  load: () => Promise.reject(new Error("no")),
};

test.each([
  ["names no source of schemas", undefined, "give --registry URL, or --schemas FILE with --file"],
  ["has a registry that gives none", refusing, "check --registry: host, port and path"],
] as const)("the advice about messages that name a schema, if the command %s", async (_, schemas, advice) => {
  const check = await checkSample("orders", framed(), { schemas, registry: undefined });
  expect(check).toMatchObject({ name: "decode", status: "problem", advice: expect.stringContaining(advice) });
});
