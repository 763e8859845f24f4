import { randomUUID } from "node:crypto";
import { type Consumer, createConsumer } from "@cdckit/consumer";
import type { CdcEvent } from "@cdckit/decode";
import { readRow } from "../sales-order-detail.ts";
import { ourDriver } from "./our-drivers.ts";
import { Pass, type PassOptions, type PassResult } from "./pass.ts";

/** A pass of `createConsumer` with a handler, every column read, offsets committed, with one of our drivers. */
export async function consumeWithOurs(driver: string, options: PassOptions): Promise<PassResult> {
  const consumer = await consumerOf(driver, options);
  const pass = new Pass(options);
  consumer.on("*", (event) => {
    pass.start();
    pass.count(readEvent(event));
  });
  const running = consumer.run();
  const result = await Promise.race([pass.finished, running.then(() => Promise.reject(new Error("the consumer stopped by itself")))]);
  await consumer.stop();
  await running;
  return result;
}

export async function consumerOf(
  driver: string,
  { brokers, registryUrl, topic }: Pick<PassOptions, "brokers" | "registryUrl" | "topic">,
): Promise<Consumer> {
  return createConsumer({
    driver: await ourDriver(driver).load(brokers),
    groupId: `bench-${randomUUID()}`,
    topics: [topic],
    from: "earliest",
    registry: { url: registryUrl },
    signals: false,
  });
}

export function readEvent(event: CdcEvent): number {
  if (event.kind !== "change") {
    throw new Error(`the topics hold changes only, found ${event.kind}`);
  }
  const { op, table, key, before, after } = event;
  return op.length + table.name.length + readRow(before as never) + readRow(after as never) + (key === null ? 0 : 1);
}
