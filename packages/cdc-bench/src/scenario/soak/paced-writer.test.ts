import type { Message } from "kafkajs";
import { afterEach, expect, test, vi } from "vitest";
import { changeFormat, type ChangeFormat } from "../../load/change-events/index.ts";
import { type PacedWriterOptions, startPacedWriter } from "./paced-writer.ts";

afterEach(() => void vi.restoreAllMocks());

/** A producer whose sends nobody answers before `answer` is called. */
function silentProducer(): { readonly kafka: PacedWriterOptions["cluster"]["kafka"]; readonly sent: Promise<Message[]>; answer(): void } {
  let answer = (): void => {};
  let asked = (_: Message[]): void => {};
  const sent = new Promise<Message[]>((resolve) => {
    asked = resolve;
  });
  const producer = {
    connect: async () => {},
    disconnect: async () => {},
    send: ({ messages }: { readonly messages: Message[] }) => {
      asked(messages);
      return new Promise<void>((resolve) => {
        answer = resolve;
      });
    },
  };
  return { kafka: { producer: () => producer } as never, sent, answer: () => answer() };
}

test("a writer that has waited for brokers since its last records is as late as the next ones are by now", async () => {
  let nowMs = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const { kafka, sent, answer } = silentProducer();
  const cluster = { kafka, connection: {} as never };
  const format = changeFormat("json") as ChangeFormat;
  const writer = await startPacedWriter({ cluster, topic: "t", format, perSecond: 100, seed: 1 });
  nowMs += 100;
  await sent; // records that nobody acknowledges
  expect(writer.written).toBe(0);
  nowMs += 29_900;
  expect(writer.behindMs).toBeCloseTo(30_000, -2);
  const stopped = writer.stop();
  answer();
  await stopped;
});

test("a record is written when it is due, and not when the next one is: at a record a second, each would be a second old", async () => {
  vi.spyOn(performance, "now").mockImplementation(() => 1_000);
  const { kafka, sent, answer } = silentProducer();
  const cluster = { kafka, connection: {} as never };
  const format = changeFormat("json") as ChangeFormat;
  const startedAtMs = Date.now();
  const writer = await startPacedWriter({ cluster, topic: "t", format, perSecond: 1, seed: 1 });
  const messages = await sent; // by a clock that stands still
  expect(messages).toHaveLength(1);
  expect(Number(messages[0]?.timestamp)).toBeGreaterThanOrEqual(startedAtMs);
  const stopped = writer.stop();
  answer();
  await stopped;
});
