import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { expect, test, vi } from "vitest";
import { DriverWaits } from "../../measure/driver-waits.ts";
import { testReportsAreHandedOn } from "../../measure/wrapped-driver.contract.ts";
import { heldDriver } from "./held-driver.ts";

test("members that have joined handle nothing before they begin, and then each record once", async () => {
  const broker = new MemoryBroker({ t: 4 });
  for (let id = 0; id < 400; id++) {
    broker.append("t", { partition: id % 4, value: JSON.stringify({ id }) });
  }
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const handled: string[] = [];
  const committed = new Map<number, bigint>();
  const partitions = [0, 0];
  let settle = (): void => {};
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        settle = resolve;
      });
    }
  };
  const members = partitions.map((_, member) => {
    const driver = heldDriver({
      driver: memory({ broker }),
      begun,
      waits: new DriverWaits(),
      onAssigned: (count) => {
        partitions[member] = count;
        settle();
      },
      onCommitted: (offsets) => {
        offsets.forEach(({ assignment, offset }) => committed.set(assignment.partition, offset));
        settle();
      },
    });
    const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], logger: false, signals: false });
    consumer.on("*", ({ record }) => void handled.push(`${record.partition} ${record.offset}`));
    return consumer;
  });
  const runs = members.map((member) => member.run());
  await until(() => partitions.every((count) => count === 2));
  expect(handled).toEqual([]);
  begin();
  await until(() => [0, 1, 2, 3].every((partition) => committed.get(partition) === 100n));
  await Promise.all(members.map((member) => member.stop()));
  await Promise.all(runs);
  expect(handled).toHaveLength(400);
  expect(new Set(handled).size).toBe(400);
});

test("a member that joins without partitions says so: the group is complete", async () => {
  const assigned: number[] = [];
  // As the driver of kafkajs does it when the group has more members than partitions.
  const connect: KafkaDriver["connect"] = async (subscription, sink) => {
    const session = await memory({ broker: new MemoryBroker({ t: 1 }) }).connect({ ...subscription, topics: [] }, sink);
    sink.assigned([]);
    return session;
  };
  const driver = heldDriver({
    driver: { ...memory({ broker: new MemoryBroker({ t: 1 }) }), connect },
    begun: Promise.resolve(),
    waits: new DriverWaits(),
    onAssigned: (count) => assigned.push(count),
    onCommitted: () => {},
  });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], logger: false, signals: false });
  consumer.on("*", () => {});
  const running = consumer.run();
  await vi.waitFor(() => expect(assigned).toEqual([0]));
  await consumer.stop();
  await running;
});

testReportsAreHandedOn("a held driver", (driver) =>
  heldDriver({ driver, begun: Promise.resolve(), waits: new DriverWaits(), onAssigned: () => {}, onCommitted: () => {} }),
);
