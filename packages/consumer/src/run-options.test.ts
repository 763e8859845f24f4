import { getEventListeners } from "node:events";
import type { CdcEvent } from "@cdckit/decode";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { KafkaDriver } from "./driver.ts";
import type { ConsumerOptions } from "./options.ts";

interface Line {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function consumerOf(options: Partial<ConsumerOptions> = {}): {
  broker: MemoryBroker;
  consumer: Consumer;
  connects: () => number;
  lines: Line[];
} {
  const broker = new MemoryBroker({ orders: 1 });
  broker.append("orders", ...['{"id":1}', '{"id":2}', '{"id":3}'].map((value) => ({ value })));
  const inner = memory({ broker });
  let connects = 0;
  const driver: KafkaDriver = {
    ...inner,
    capabilities: inner.capabilities,
    connect: (subscription, sink) => {
      connects++;
      return inner.connect(subscription, sink);
    },
  };
  const lines: Line[] = [];
  const log = (fields: Readonly<Record<string, unknown>>, message: string): void => void lines.push({ fields, message });
  const logger = { debug: () => {}, info: log, warn: log, error: log };
  const consumer = createConsumer({ driver, groupId: "g", topics: ["orders"], signals: false, logger, ...options });
  return { broker, consumer, connects: () => connects, lines };
}

const committed = (broker: MemoryBroker): bigint | null => broker.committed("g", "orders", 0);

test("a signal that is aborted stops run(), which handles and commits what is in flight and resolves", async () => {
  const { broker, consumer, lines } = consumerOf();
  const abort = new AbortController();
  const handled: CdcEvent[] = [];
  consumer.on("*", async (event) => {
    abort.abort(new Error("the lease of the leader is over"));
    await new Promise((resolve) => setImmediate(resolve));
    handled.push(event);
  });
  await consumer.run({ signal: abort.signal });
  expect(handled).toHaveLength(1);
  expect(committed(broker)).toBe(1n);
  expect(consumer.health().phase).toBe("stopped");
  expect(lines).toContainEqual({
    fields: { err: expect.objectContaining({ message: "the lease of the leader is over" }) },
    message: "the signal was aborted: the consumer stops",
  });
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});

test("a signal that is aborted already connects nothing", async () => {
  const running = consumerOf();
  running.consumer.on("*", () => {});
  await running.consumer.run({ signal: AbortSignal.abort() });
  const streaming = consumerOf();
  expect(await streaming.consumer.stream({ signal: AbortSignal.abort() }).next()).toMatchObject({ done: true });
  expect([running.connects(), streaming.connects()]).toEqual([0, 0]);
  expect([running.consumer.health().phase, streaming.consumer.health().phase]).toEqual(["stopped", "stopped"]);
});

test("a signal ends a stream, behind what was handed out and is done", async () => {
  const { broker, consumer } = consumerOf();
  const abort = new AbortController();
  for await (const { done } of consumer.stream({ signal: abort.signal })) {
    abort.abort();
    await new Promise((resolve) => setImmediate(resolve));
    done();
  }
  expect(committed(broker)).toBe(1n);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});

test("the reason of a signal is the cause of the error if its stop does not end in time", async () => {
  const { consumer } = consumerOf({ shutdownTimeoutMs: 20 });
  const abort = new AbortController();
  const reason = new Error("the pod is evicted");
  consumer.on("*", () => {
    abort.abort(reason);
    return new Promise(() => {});
  });
  await expect(consumer.run({ signal: abort.signal })).rejects.toMatchObject({ code: "work-abandoned", cause: reason });
});

test("a signal outlives a run that failed, without a listener", async () => {
  const { consumer } = consumerOf({ topics: ["order"] });
  consumer.on("*", () => {});
  const { signal } = new AbortController();
  await expect(consumer.run({ signal })).rejects.toThrow("order");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test.each([
  ["a controller", { signal: new AbortController() }, "run() expects an AbortSignal as signal, found object: give it controller.signal"],
  ["a misspelt name", { singal: new AbortController().signal }, "run().singal is no option; the options are signal"],
  ["a signal without its name", new AbortController().signal, "run() expects { signal }, found a signal"],
])("%s is refused before anything is connected", async (_what, options, message) => {
  const { consumer, connects } = consumerOf();
  consumer.on("*", () => {});
  const running = consumer.run(options as never);
  await expect(running).rejects.toMatchObject({ code: "invalid-option" });
  await expect(running).rejects.toThrow(message);
  expect([connects(), consumer.health().phase]).toEqual([0, "stopped"]);
});

test("await using stops the consumer at the end of its block, and commits what was handled", async () => {
  const { broker, consumer: made } = consumerOf();
  let running: Promise<void> | undefined;
  {
    await using consumer = made;
    await new Promise<void>((resolve) => {
      consumer.on("*", ({ record }) => {
        if (record.offset === 2n) {
          resolve();
        }
      });
      running = consumer.run();
    });
  }
  expect(made.health().phase).toBe("stopped");
  expect(committed(broker)).toBe(3n);
  await running;
});

test("await using of a consumer that never ran, or has failed, does not throw", async () => {
  const { consumer: failed } = consumerOf({ topics: ["order"] });
  {
    await using consumer = consumerOf().consumer;
    await using other = failed;
    other.on("*", () => {});
    await expect(other.run()).rejects.toThrow("order");
    expect(consumer.health().phase).toBe("idle");
  }
  expect(failed.health().phase).toBe("stopped");
});

test("a consumer with workers takes a signal, too: one that is aborted already starts no thread", async () => {
  const module = new URL("file:///nowhere/handlers.js");
  const workers = (): ReturnType<typeof createConsumer> =>
    createConsumer({ workers: 1, module, groupId: "g", topics: ["orders"], logger: false, signals: false }) as never;
  const aborted = workers();
  await aborted.run({ signal: AbortSignal.abort() });
  expect(aborted.health().phase).toBe("stopped");
  const disposed = workers();
  await disposed[Symbol.asyncDispose]();
  expect(disposed.health().phase).toBe("stopped");
});
