import type { Via } from "./transport.ts";

const viaRules: Readonly<Record<Via, string>> = {
  kafka:
    "Kafka: kafkajs sends each round with acks=all to one partition, this project's kafkajs driver reads it. Compression is that of the batch, by the producer.",
  redis: "Redis: SET with an expiry, then GET of the same key. Compression is of the payload and counts as serialize and deserialize.",
  "redis-streams":
    "Redis: XADD on one connection, XREAD BLOCK on another. Compression is of the payload and counts as serialize and deserialize.",
};

/** How `roundtrip` measures, a sentence each. */
export function roundtripRules(via: Via): readonly string[] {
  return [
    "A round trip: object, serialize, send, receive, deserialize, object. Its time is from the first to the last of these, in the same thread and by the same clock.",
    viaRules[via],
    "Every codec must give back each row before it is measured; the bytes of each round are compared, and a sample of the values.",
    "Rounds are played in blocks, codecs take turns in each, and another one goes first. Warm-up rounds do not count.",
    "In memory: medians of rounds over all rows, without network.",
    "Percentiles are of rounds, to three figures. MB is 10^6 bytes.",
  ];
}
