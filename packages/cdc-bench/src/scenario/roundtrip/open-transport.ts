import { type KafkaCompression, openKafka } from "./kafka-transport.ts";
import type { ThreadSetup } from "./thread-protocol.ts";
import { openRedisStream, openRedisValues } from "./redis-transports.ts";
import type { Transport } from "./transport.ts";

/** The connection of one thread. */
export function openTransport(setup: ThreadSetup, compression: () => KafkaCompression): Promise<Transport> {
  const { via, connection, redisUrl, place, groupId } = setup;
  if (via === "kafka" && connection !== null) {
    return openKafka({ connection, topic: place, groupId }, compression);
  }
  if (redisUrl === null) {
    throw new Error(`no address for ${via}`);
  }
  return via === "redis" ? openRedisValues({ url: redisUrl }, place) : openRedisStream({ url: redisUrl }, place);
}
