import { placeOf } from "@cdckit/driver";
import { expect, test } from "vitest";
import { BrokerOffsets } from "./broker-offsets.ts";
import type { Answer, ClientError, ListedOffset, LowLevelAdmin, LowLevelConsumer } from "./low-level-client.ts";

type ListOffsets = LowLevelAdmin["listOffsets"];
type Asked = Parameters<ListOffsets>[0];

const partitions = [0, 1].map((partition) => ({ topic: "rows", partition }));
const earliest = -2;
const readCommitted = 1;

/** Questions about two partitions, which these answers of librdkafka are for. `made` counts the clients. */
function brokersOf(answersTo: (timestamp: number, isolationLevel: number) => readonly Partial<ListedOffset>[]) {
  const made: LowLevelAdmin[] = [];
  const makeAdmin = (): LowLevelAdmin => {
    const admin = {
      disconnect: () => {},
      describeTopics: (_topics: unknown, _options: unknown, done: Answer<unknown>) =>
        done(null, [{ name: "rows", topicId: { base64: "" }, partitions }]),
      listOffsets: (asked: Asked, { isolationLevel }: Parameters<ListOffsets>[1], done: Parameters<ListOffsets>[2]) => {
        const answers = answersTo(asked[0]?.offset.timestamp ?? 0, isolationLevel);
        const listed = answers.map((answer, i) => ({ topic: "rows", partition: i, offset: -1, ...answer }));
        done(listed.length === 0 ? noEntry : null, listed);
      },
    } as unknown as LowLevelAdmin; // as much as is asked
    made.push(admin);
    return admin;
  };
  const brokers = new BrokerOffsets(makeAdmin, { committed: () => {} } satisfies Pick<LowLevelConsumer, "committed">);
  return { brokers, made };
}

/** As brokers answer while a new leader does not know how far the log is written (KIP-207). librdkafka passes the error on with the partition. */
const notAvailable = Object.assign(new Error("Broker: Offset not available"), { code: 78 }) as ClientError;

/** As version 2.15.1 answers if no partition of the question has a leader. */
const noEntry = Object.assign(new Error("Local: No such entry"), { code: -156 }) as ClientError;

test("an offset that librdkafka gives although no leader has answered is none: the end of a log is not below its start", async () => {
  // As version 2.15.1 answers just after a broker was killed.
  const { brokers, made } = brokersOf(() => [{ offset: 7 }, { offset: -1001 }]);
  expect([...(await brokers.ends(["rows"])).keys()]).toEqual([placeOf("rows", 0)]);
  expect([...(await brokers.offsetsAt(["rows"], 5n))]).toEqual([[placeOf("rows", 0), 7n]]);
  expect(made.length).toBeGreaterThanOrEqual(2); // the first client may know a leader that is none any more
});

test("partitions without a leader are left out, also if there are no others", async () => {
  const { brokers, made } = brokersOf(() => []);
  expect([...(await brokers.ends(["rows"])).keys()]).toEqual([]);
  expect([...(await brokers.offsetsAt(["rows"], 5n))]).toEqual([]);
  expect(made.length).toBeGreaterThanOrEqual(2); // another client learns who leads by then
});

test("a log whose start alone is known does not end there: the partition is left out until a leader has said where it ends", async () => {
  const { brokers } = brokersOf((timestamp) => [{ offset: 7 }, timestamp === earliest ? { offset: 3 } : { error: notAvailable }]);
  expect([...(await brokers.ends(["rows"])).keys()]).toEqual([placeOf("rows", 0)]);
});

test("a log whose last stable offset is not known is left out: it may end before an open transaction, which would be passed over", async () => {
  const { brokers } = brokersOf((_timestamp, isolation) => [
    { offset: 7 },
    isolation === readCommitted ? { error: notAvailable } : { offset: 9 },
  ]);
  expect([...(await brokers.ends(["rows"])).keys()]).toEqual([placeOf("rows", 0)]);
});

test("that no record is of the time or later is an answer, and another one than none", async () => {
  const { brokers } = brokersOf(() => [{ offset: -1 }, { error: notAvailable }]);
  expect([...(await brokers.offsetsAt(["rows"], 5n))]).toEqual([[placeOf("rows", 0), null]]);
});
