import { expect, test } from "vitest";
import { BrokerOffsets } from "./broker-offsets.ts";
import type { Answer, LowLevelAdmin, LowLevelConsumer } from "./low-level-client.ts";

test("an offset that librdkafka gives although no leader has answered is none: the end of a log is not below its start", async () => {
  const partitions = [0, 1].map((partition) => ({ topic: "rows", partition }));
  let made = 0;
  const admin = {
    disconnect: () => {},
    describeTopics: (_topics: unknown, _options: unknown, done: Answer<unknown>) =>
      done(null, [{ name: "rows", topicId: { base64: "" }, partitions }]),
    // As version 2.15.1 answers just after a broker was killed.
    listOffsets: (_asked: unknown, _options: unknown, done: Answer<unknown>) =>
      done(null, [
        { ...partitions[0], offset: 7, leaderEpoch: 0, timestamp: -1 },
        { ...partitions[1], offset: -1001, timestamp: -1 },
      ]),
  } as unknown as LowLevelAdmin;
  const makeAdmin = (): LowLevelAdmin => {
    made++;
    return admin;
  };
  const brokers = new BrokerOffsets(makeAdmin, { committed: () => {} } satisfies Pick<LowLevelConsumer, "committed">);
  expect([...(await brokers.ends(["rows"])).keys()]).toHaveLength(1);
  expect([...(await brokers.offsetsAt(["rows"], 5n)).values()]).toEqual([7n]);
  expect(made).toBe(2); // the first client may know a leader that is none any more
});
