import { placeOf } from "@cdckit/driver";
import { expect, test } from "vitest";
import { BrokerOffsets } from "./broker-offsets.ts";
import { type Answer, type ClientError, codes, type ListedOffset, type LowLevelAdmin, type LowLevelConsumer } from "./low-level-client.ts";

type ListOffsets = LowLevelAdmin["listOffsets"];
type Asked = Parameters<ListOffsets>[0];

const partitions = [0, 1].map((partition) => ({ partition, leader: { id: 1 } }));
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

const timedOut = Object.assign(new Error("Local: Timed out"), { code: codes.timedOut }) as ClientError;

/** Two brokers, each of which leads one of two partitions. `silent`: the brokers that answer nothing. `asked`: what each client is asked, in order. */
function brokersWithout(silent: ReadonlySet<number>, controllers: readonly number[] = []) {
  const asked: string[][] = [];
  const makeAdmin = (): LowLevelAdmin => {
    const ofClient: string[] = [];
    const controller = controllers[asked.length] ?? 1;
    asked.push(ofClient);
    const led = [1, 2].map((id) => ({ partition: id, leader: { id } }));
    const admin = {
      disconnect: () => {},
      describeTopics: (_topics: unknown, _options: unknown, done: Answer<unknown>) => {
        ofClient.push(`topics of ${controller}`);
        done(silent.has(controller) ? timedOut : null, [{ name: "rows", topicId: { base64: "" }, partitions: led }]);
      },
      listOffsets: (specs: Asked, _options: unknown, done: Parameters<ListOffsets>[2]) => {
        const leaders = specs.map(({ partition }) => partition);
        ofClient.push(`offsets of ${leaders.join()}`);
        done(
          leaders.some((leader) => silent.has(leader)) ? timedOut : null,
          specs.map(({ topic, partition }) => ({ topic, partition, offset: 7 })),
        );
      },
    } as unknown as LowLevelAdmin; // as much as is asked
    return admin;
  };
  const brokers = new BrokerOffsets(makeAdmin, { committed: () => {} } satisfies Pick<LowLevelConsumer, "committed">);
  return { brokers, asked };
}

test("a leader that does not answer holds up no partition of another one, and no later question: until it answers, it is asked by a client of its own", async () => {
  const silent = new Set([2]);
  const { brokers, asked } = brokersWithout(silent);
  const places = async (): Promise<readonly string[]> => [...(await brokers.ends(["rows"])).keys()];
  expect(await places()).toEqual([placeOf("rows", 1)]);
  expect(await places()).toEqual([placeOf("rows", 1)]);
  const ofFirst = "offsets of 1";
  expect(asked).toEqual([
    ["topics of 1", ofFirst, "offsets of 2"],
    [ofFirst, ofFirst, "topics of 1", ofFirst, ofFirst, ofFirst],
    ["offsets of 2"],
  ]);

  silent.clear();
  expect((await places()).toSorted()).toEqual([1, 2].map((partition) => placeOf("rows", partition)));
  expect(await places()).toHaveLength(2);
  expect(asked).toHaveLength(4);
  expect(asked[1]?.filter((question) => question === "offsets of 2")).toHaveLength(5); // after its first answer, again by the client of all
  await brokers.close();
});

test("topics are asked for again if the broker that librdkafka takes for the controller does not answer", async () => {
  const { brokers, asked } = brokersWithout(new Set([2]), [2, 2, 1]);
  expect(await brokers.partitionsOf(["rows"])).toHaveLength(2);
  expect(asked).toEqual([["topics of 2"], ["topics of 2"], ["topics of 1"]]);
  await brokers.close();
});

test("if nobody answers, the question about topics fails", async () => {
  const { brokers, asked } = brokersWithout(new Set([1]));
  await expect(brokers.partitionsOf(["rows"])).rejects.toThrow("Timed out");
  expect(asked).toHaveLength(6);
  await brokers.close();
});
