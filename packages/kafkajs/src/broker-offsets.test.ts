import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { placeOf } from "@cdckit/driver";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { BrokerOffsets } from "./broker-offsets.ts";
import type { ClusterQuestions } from "./cluster-questions.ts";

const noCluster = { loginMs: 0, close: async () => {} } as ClusterQuestions;

/** What Kafka 4 answers: the versions of the requests that kafkajs asks for, and this broker alone. */
function answerTo(request: Buffer, port: number): Buffer {
  const correlationId = request.readInt32BE(8);
  return request.readInt16BE(4) === 18 ? apiVersions(correlationId) : metadata(correlationId, port);
}

function apiVersions(correlationId: number): Buffer {
  const keys = [3, 18];
  const body = Buffer.alloc(4 + 2 + 4 + keys.length * 6);
  body.writeInt32BE(correlationId, 0);
  body.writeInt32BE(keys.length, 6);
  keys.forEach((key, i) => body.writeInt16BE(key, 10 + i * 6));
  return framed(body);
}

/** Metadata v0: one broker, no topic. */
function metadata(correlationId: number, port: number): Buffer {
  const host = Buffer.from("127.0.0.1");
  const head = Buffer.alloc(4 + 4 + 4 + 2);
  head.writeInt32BE(correlationId, 0);
  head.writeInt32BE(1, 4);
  head.writeInt16BE(host.length, 12);
  const tail = Buffer.alloc(8);
  tail.writeInt32BE(port, 0);
  return framed(Buffer.concat([head, host, tail]));
}

function framed(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length, 0);
  return Buffer.concat([length, body]);
}

test("brokers that break off when they are asked are unreachable, although kafkajs takes its own null for an answer", async () => {
  let answered = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (request: Buffer) => {
      const isMetadata = request.readInt16BE(4) === 3;
      // The first look at the brokers is answered, and the question itself is not.
      if (isMetadata && answered++ > 0) {
        socket.destroy();
      } else {
        socket.write(answerTo(request, (server.address() as AddressInfo).port));
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const kafka = new Kafka({
    brokers: [`127.0.0.1:${port}`],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 30_000,
    retry: { retries: 0 },
  });
  const offsets = new BrokerOffsets(() => kafka.admin(), "g", noCluster);
  try {
    await expect(offsets.topics()).rejects.toMatchObject({ code: "brokers-unreachable" });
    expect(answered).toBeGreaterThan(1);
  } finally {
    await offsets.close();
    server.close();
  }
});

/** The ends of a topic of two partitions of which kafkajs' admin knows the last stable offset 5, if the cluster answers this in turn. */
async function endsIf(...highWatermarks: readonly (ReadonlyMap<number, bigint> | null)[]): Promise<readonly unknown[]> {
  const answers = [...highWatermarks];
  const fetchTopicOffsets = async () => [0, 1].map((partition) => ({ partition, offset: "5", low: "2", high: "5" }));
  const admin = { connect: async () => {}, disconnect: async () => {}, fetchTopicOffsets } as unknown as Admin; // as much as is asked
  const cluster = { ...noCluster, highWatermarks: async () => answers.shift() } as unknown as ClusterQuestions; // as much as is asked
  const offsets = new BrokerOffsets(() => admin, "g", cluster);
  const ends = await offsets.ends(["rows"]);
  await offsets.close();
  return [0, 1].map((partition) => ends.get(placeOf("rows", partition)) ?? null);
}

test("a partition that is newer than what the cluster knows is asked for again: its log does not end before an open transaction", async () => {
  const [older, newer] = await endsIf(new Map([[0, 9n]]), new Map([0, 1].map((partition) => [partition, 9n])));
  expect([older, newer]).toEqual([
    { low: 2n, high: 9n, stable: 5n },
    { low: 2n, high: 9n, stable: 5n },
  ]);
});

test("a log whose end is not known is left out", async () => {
  const known = new Map([[0, 9n]]);
  expect(await endsIf(known, known)).toEqual([{ low: 2n, high: 9n, stable: 5n }, null]);
});

test("with a wrapper around kafkajs' client, the last stable offset is the end", async () => {
  expect(await endsIf(null)).toEqual([
    { low: 2n, high: 5n, stable: 5n },
    { low: 2n, high: 5n, stable: 5n },
  ]);
});

test("a topic that was just made is waited for until the brokers know it: kafkajs' own wait for its leaders fails meanwhile", async () => {
  const unknown = Object.assign(new Error("This server does not host this topic-partition"), { type: "UNKNOWN_TOPIC_OR_PARTITION" });
  const asked: string[] = [];
  const admin = {
    connect: async () => {},
    disconnect: async () => {},
    createTopics: async ({ waitForLeaders }: { readonly waitForLeaders: boolean }) => {
      asked.push("create");
      if (waitForLeaders) {
        throw unknown;
      }
    },
    fetchTopicMetadata: async () => {
      asked.push("metadata");
      if (asked.length < 4) {
        throw unknown;
      }
    },
  } as unknown as Admin; // as much as is asked
  const offsets = new BrokerOffsets(() => admin, "g", noCluster);
  await offsets.createTopic("rows.dead", { partitions: 3 });
  expect(asked).toEqual(["create", "metadata", "metadata", "metadata"]);
  await offsets.close();
});
