import type { CdcEvent, Decoder } from "@cdckit/decode";

/** Every record is one event that holds what the driver handed over. */
export const plainDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record }) => [
    {
      kind: "unknown",
      key: batch.keyAt(record),
      value: batch.valueAt(record),
      record: {
        topic: batch.topic,
        partition: batch.partition,
        offset: batch.offsetAt(record),
        timestamp: batch.timestampAt(record),
        headers: batch.headersAt(record),
      },
    } as unknown as CdcEvent,
  ],
  explain: () => Promise.reject(new Error("not used")),
};
