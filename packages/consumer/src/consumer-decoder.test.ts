import type { SchemaId, SchemaListener, SchemaSeen, SchemaSource } from "@cdckit/decode";
import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createConsumer } from "./consumer.ts";
import type { Health } from "./observe/health.ts";
import type { ConsumerOptions } from "./options.ts";

/** What the option `decoder` passes to the consumer's own decoder. */

const connectJson = Buffer.from(
  JSON.stringify({
    schema: { type: "struct", optional: false, fields: [{ field: "id", type: "int32", optional: false }] },
    payload: { id: 7 },
  }),
);

/** Handles these values of one topic, and tells what `health()` said then. */
async function consume(
  values: readonly Buffer[],
  options: Partial<ConsumerOptions>,
): Promise<{ rows: readonly unknown[]; health: Health }> {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", ...values.map((value) => ({ key: null, value })));
  const rows: unknown[] = [];
  const base = { driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, logger: false, clock } as const;
  const consumer = createConsumer({ ...base, ...options }).on(
    "*",
    (event) => void rows.push(event.kind === "row" ? event.row : event.kind),
  );
  let health = consumer.health();
  clock.after(2_000, () => {
    health = consumer.health();
    void consumer.stop();
  });
  await clock.run(consumer.run());
  return { rows, health };
}

describe("the consumer's own decoder", () => {
  test("tells a listener of each schema once", async () => {
    const seen: SchemaSeen[] = [];
    const { rows } = await consume([connectJson, connectJson], { decoder: { onSchema: (schema) => void seen.push(schema) } });
    expect(rows).toEqual([{ id: 7 }, { id: 7 }]);
    expect(seen).toMatchObject([{ topic: "t", side: "value", encoding: "connect-json" }]);
  });

  const failing = {
    throws: () => {
      throw new Error("no disk");
    },
    rejects: () => Promise.reject(new Error("no disk")),
  };
  test.each(Object.entries(failing))("a listener that %s stops nothing, and health() reports it", async (_, fail) => {
    const onSchema = fail as SchemaListener; // a compiler lets it through, too
    const { rows, health } = await consume([connectJson], { decoder: { onSchema } });
    expect(rows).toEqual([{ id: 7 }]);
    expect(health.reasons).toEqual([expect.stringContaining("decoder.onSchema failed 1 times")]);
  });

  test.each(["globalId", "contentId"] as const)("asks the registry for Apicurio's ids of eight bytes by %s", async (apicurioIds) => {
    const asked: SchemaId[] = [];
    const registry: SchemaSource = {
      peek: (id) => {
        asked.push(id);
        return { id, schemaType: "AVRO", schema: '{"type":"record","name":"T","fields":[{"name":"id","type":"int"}]}' };
      },
      load: () => Promise.reject(new Error("not called")),
    };
    const { rows } = await consume([Buffer.from("0000000000000000070e", "hex")], { registry, decoder: { apicurioIds } });
    expect(rows).toEqual([{ id: 7 }]);
    expect(asked).toContain(`${apicurioIds}:7`);
  });
});
