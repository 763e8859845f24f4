import { type DriverSink, type FetchedBatch, type KafkaDriver, type Logger, silentLogger } from "@cdckit/consumer";
import { uniqueName } from "./stack.ts";

/** Reads a partition from its beginning to its end, through a driver. Rejects with the driver's error. */
export async function readThroughDriver(
  driver: KafkaDriver,
  topic: string,
  logger: Logger = silentLogger,
): Promise<readonly FetchedBatch[]> {
  const batches: FetchedBatch[] = [];
  let end: (batches: readonly FetchedBatch[]) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const read = new Promise<readonly FetchedBatch[]>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const sink: DriverSink = {
    assigned: () => {},
    revoked: async () => {},
    batch: (batch) => {
      batches.push(batch);
      if (batch.nextOffset === batch.highWatermark) {
        end(batches);
      }
      return undefined;
    },
    failed: (error) => fail(error),
  };
  const session = await driver.connect({ groupId: uniqueName("group"), topics: [topic], from: "earliest", logger }, sink);
  try {
    return await read;
  } finally {
    await session.close(5_000);
  }
}
