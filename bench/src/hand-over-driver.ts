import type { DriverSession, DriverSink, KafkaDriver } from "@cdckit/consumer";
import type { RecordArrayBatch } from "@cdckit/testkit";

/** A driver that hands its batches over one after the other, and tells how many nanoseconds the consumer took for them. */
export function handOver(batches: readonly RecordArrayBatch[]): { readonly driver: KafkaDriver; readonly handedOver: Promise<number> } {
  let done: (elapsedNs: number) => void = () => {};
  const handedOver = new Promise<number>((resolve) => {
    done = resolve;
  });
  const handAllTo = async (sink: DriverSink): Promise<void> => {
    const start = process.hrtime.bigint();
    for (const batch of batches) {
      await sink.batch(batch);
    }
    done(Number(process.hrtime.bigint() - start));
  };
  const session: DriverSession = { commit: async () => {}, pause: () => {}, resume: () => {}, close: async () => {} };
  const driver: KafkaDriver = {
    name: "bench",
    capabilities: {
      metadataCommit: false,
      topicIds: false,
      cooperative: false,
      awaitsRevoked: true,
      kip848: false,
      leaderEpoch: false,
      codecs: ["none"],
      crc: false,
      offsetResetNone: false,
    },
    connect: (_, sink) => {
      sink.assigned([...new Set(batches.map(({ assignment }) => assignment))]);
      setImmediate(() => void handAllTo(sink));
      return Promise.resolve(session);
    },
  };
  return { driver, handedOver };
}
