import { type DriverSink, type KafkaDriver, type PartitionAssignment, silentLogger } from "@cdckit/consumer";
import { memory } from "@cdckit/testkit";
import { expect, test } from "vitest";

/** A driver that wraps another one must say what that one says, as its capabilities promise it. */
export function testReportsAreHandedOn(what: string, wrap: (inner: KafkaDriver) => KafkaDriver): void {
  test(`${what} tells the consumer where partitions start, and when its member should be acknowledged next`, async () => {
    const next = { withinMs: 3_000, host: "broker:9092" };
    const assignment = { topic: "t", partition: 0 } as PartitionAssignment;
    const inner: KafkaDriver = {
      ...memory({ topics: { t: 1 } }),
      connect: (_, sink) => {
        sink.startsAt?.(assignment, 7n);
        sink.acknowledged?.(10_000, next);
        return Promise.reject(new Error("enough"));
      },
    };
    const seen: unknown[] = [];
    const sink = { startsAt: (...args: unknown[]) => seen.push(args), acknowledged: (...args: unknown[]) => seen.push(args) };
    const subscription = {
      groupId: "g",
      topics: ["t"],
      from: "earliest",
      logger: silentLogger,
      signal: new AbortController().signal,
    } as const;
    await expect(wrap(inner).connect(subscription, sink as unknown as DriverSink)).rejects.toThrow("enough");
    expect(seen).toEqual([
      [assignment, 7n],
      [10_000, next],
    ]);
  });
}
