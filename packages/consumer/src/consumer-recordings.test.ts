import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, loadRecording, recording } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createConsumer } from "./consumer.ts";

describe("real messages through the whole consumer", () => {
  for (const { name, file, schemasFile } of bundledRecordings()) {
    test(`${name}: every record is decoded, handled, and counted`, async () => {
      const records = await loadRecording(file);
      const driver = recording({ file });
      const consumer = createConsumer({ driver, groupId: "g", topics: [/.*/], registry: fromBundle(schemasFile), signals: false });
      const kinds = new Map<string, number>();
      const lastOf = new Map<string, bigint>();
      const ends = new Map(records.map((record) => [`${record.topic}[${record.partition}]`, record.offset]));
      consumer.on("*", (event) => {
        kinds.set(event.kind, (kinds.get(event.kind) ?? 0) + 1);
        const place = `${event.record.topic}[${event.record.partition}]`;
        expect(event.record.offset > (lastOf.get(place) ?? -1n)).toBe(true);
        lastOf.set(place, event.record.offset);
        if ([...ends].every(([partition, end]) => lastOf.get(partition) === end)) {
          void consumer.stop();
        }
      });
      await consumer.run();
      const { counts } = consumer.health();
      expect(counts).toMatchObject({ records: records.length, events: records.length, handled: records.length });
      expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBe(records.length);
    });
  }
});
