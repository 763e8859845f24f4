import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readToEnds, type ReadToEndsOptions } from "./read-to-ends.ts";

type Reader = Parameters<typeof readToEnds>[0];

/** A consumer of kafkajs that reports what a test says. What kafkajs reports of real logs is tested on a broker. */
class ReportingConsumer {
  readonly events = { CRASH: "consumer.crash", END_BATCH_PROCESS: "consumer.end_batch_process" };
  readonly #listeners = new Map<string, (event: { readonly payload: unknown }) => void>();
  async connect(): Promise<void> {}
  async subscribe(): Promise<void> {}
  async run(): Promise<void> {}

  on(name: string, listener: (event: { readonly payload: unknown }) => void): () => void {
    this.#listeners.set(name, listener);
    return () => {};
  }

  processed(partition: number, lastOffset: bigint): void {
    this.#listeners.get(this.events.END_BATCH_PROCESS)?.({ payload: { partition, lastOffset: String(lastOffset) } });
  }

  crashed(error: Error): void {
    this.#listeners.get(this.events.CRASH)?.({ payload: { error } });
  }
}

function reading(
  consumer: ReportingConsumer,
  interrupt: AbortSignal = new AbortController().signal,
): { readonly outcome: () => Promise<unknown> } {
  const endOffsets = new Map([
    [0, 10n],
    [2, 5n],
  ]);
  const options: ReadToEndsOptions = { topic: "t", endOffsets, interrupt, onBatch: () => {} };
  let outcome: unknown = "reading";
  // It has what `readToEnds` calls, and kafkajs' own types have overloads for each event.
  readToEnds(consumer as unknown as Reader, options).then(
    () => (outcome = "ended"),
    (error: unknown) => (outcome = error),
  );
  return {
    outcome: async () => {
      await vi.advanceTimersByTimeAsync(0);
      return outcome;
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a reading ends when each partition was processed to its end, also by batches that are not handed over", async () => {
  const consumer = new ReportingConsumer();
  const { outcome } = reading(consumer);
  await outcome();
  consumer.processed(0, 9n);
  consumer.processed(2, 3n);
  expect(await outcome()).toBe("reading");
  consumer.processed(2, 7n);
  expect(await outcome()).toBe("ended");
});

test("a reading that gets nothing before the end for half a minute says of which partitions, whatever comes of others", async () => {
  const consumer = new ReportingConsumer();
  const { outcome } = reading(consumer);
  await outcome();
  await vi.advanceTimersByTimeAsync(20_000);
  consumer.processed(0, 11n);
  await vi.advanceTimersByTimeAsync(20_000);
  consumer.processed(0, 12n);
  consumer.processed(1, 12n);
  expect(await outcome()).toBe("reading");
  await vi.advanceTimersByTimeAsync(11_000);
  expect(await outcome()).toMatchObject({
    code: "too-few-messages",
    detail:
      "expected records of t[2] up to offset 4, and kafkajs has received nothing there for 30 s. They may have been deleted since the run began: try again.",
  });
  expect(vi.getTimerCount()).toBe(0);
});

test("a reading ends with what its consumer crashed with", async () => {
  const consumer = new ReportingConsumer();
  const { outcome } = reading(consumer);
  const crash = new Error("no broker");
  consumer.crashed(crash);
  expect(await outcome()).toBe(crash);
});

test("a reading that is interrupted ends", async () => {
  const interrupt = new AbortController();
  const { outcome } = reading(new ReportingConsumer(), interrupt.signal);
  expect(await outcome()).toBe("reading");
  interrupt.abort();
  expect(await outcome()).toBe("ended");
});
