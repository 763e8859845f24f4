/** Handlers that read what real Debezium did not send. */
import type { ChangeEvent } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording, memory, MemoryBroker } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createConsumer } from "../consumer.ts";

async function failureOf(handle: (event: ChangeEvent) => unknown): Promise<Error> {
  const { file, schemasFile } = bundledRecording("postgres-debezium-3.5/tav.inv.toast"); // its replica identity is the default
  const broker = new MemoryBroker({ toast: 1 });
  broker.append("toast", ...(await loadRecording(file)).map(({ key, value, headers }) => ({ key, value, headers })));
  const consumer = createConsumer({
    driver: memory({ broker }),
    groupId: "g",
    topics: ["toast"],
    registry: fromBundle(schemasFile),
    failure: { retry: false },
    logger: false,
    signals: false,
  });
  consumer.on("inv.toast", { update: (event) => void handle(event) });
  const stopsAtTheEnd = setInterval(() => consumer.health().assigned.some(({ lag }) => lag === 0n) && void consumer.stop(), 5);
  try {
    await consumer.run();
    return new Error("nothing failed");
  } catch (error) {
    return error as Error;
  } finally {
    clearInterval(stopsAtTheEnd);
  }
}

const lacksBefore = "the update has no before, because its source sends no old rows (PostgreSQL does with REPLICA IDENTITY FULL)";

test("a handler that reads a before that was not sent fails with the reason", async () => {
  const error = await failureOf(({ before }) => (before as Record<string, unknown>)["id"]);
  expect(error).toMatchObject({ code: "handler-failed", helpUrl: expect.stringContaining("handler-failed.md") });
  expect(error.message).toContain(lacksBefore);
  expect(error.cause).toBeInstanceOf(TypeError);
});

test("a handler that makes text of a large column that was not sent fails with the reason", async () => {
  const error = await failureOf(({ after }) => Object.values(after ?? {}).map((value) => `${value as string}`));
  expect(error.message).toContain("the row has a column that is UNAVAILABLE");
});

test.each([
  ["a TypeError about something else", () => (undefined as unknown as { a: string }).a],
  ["an error that is no TypeError", () => expect.unreachable("Cannot read properties of null")],
])("%s is not explained", async (_what, handle) => {
  const error = await failureOf(handle);
  expect(error).toMatchObject({ code: "handler-failed" });
  expect(error.message).not.toMatch(/before|UNAVAILABLE/);
});
