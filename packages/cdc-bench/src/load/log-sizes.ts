import type { Socket } from "node:net";
import type { ISocketFactory, Kafka } from "kafkajs";
import type { ClusterConnection } from "./connection.ts";
import { createKafkaClient } from "./kafka-client.ts";
import { openSocket } from "./sockets.ts";

const describeLogDirs = { apiKey: 35, apiVersion: 1 } as const; // the oldest version that Kafka 4 still has
const correlationId = 1_968_000_001; // kafkajs counts from 0
const timeoutMs = 10_000;
/** Of the requests by which kafkajs gets to a broker. */
const requestTimeoutMs = 30_000;

/**
 * How many bytes topics take on the brokers' disks, by topic: record batches as they are stored, compression and headers included. Of
 * several replicas the largest counts. Null if the brokers do not tell (it needs Describe on the cluster).
 */
export async function logSizes(connection: ClusterConnection, topics: readonly string[]): Promise<ReadonlyMap<string, number> | null> {
  try {
    const brokers = await brokersOf(connection);
    const answers = await Promise.all(brokers.map((broker) => askBroker({ ...connection, brokers: [broker] })));
    const byPartition = new Map<string, number>();
    for (const { topic, partition, bytes } of answers.flat().filter((size) => topics.includes(size.topic))) {
      const key = `${topic}/${partition}`;
      byPartition.set(key, Math.max(bytes, byPartition.get(key) ?? 0));
    }
    const sizes = new Map<string, number>();
    for (const [key, bytes] of byPartition) {
      const topic = key.slice(0, key.lastIndexOf("/"));
      sizes.set(topic, bytes + (sizes.get(topic) ?? 0));
    }
    return sizes;
  } catch {
    // A figure less: the caller says that it is missing.
    return null;
  }
}

interface LogSize {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: number;
}

async function brokersOf(connection: ClusterConnection): Promise<readonly string[]> {
  const admin = clientOf(connection).admin();
  await admin.connect();
  try {
    return (await admin.describeCluster()).brokers.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`);
  } finally {
    await admin.disconnect();
  }
}

function clientOf(connection: ClusterConnection, socketFactory?: ISocketFactory): Kafka {
  return createKafkaClient(connection, 1, { requestTimeout: requestTimeoutMs, ...(socketFactory !== undefined && { socketFactory }) });
}

/**
 * kafkajs has no such request, and has all that it takes to get to a broker: TLS and every login. So it connects, and the request goes
 * over the socket that it has made, after kafkajs has stopped listening there.
 */
async function askBroker(connection: ClusterConnection): Promise<readonly LogSize[]> {
  const sockets: Socket[] = [];
  const socketFactory: ISocketFactory = (asked) => {
    const socket = openSocket(asked);
    sockets.push(socket);
    return socket;
  };
  const admin = clientOf(connection, socketFactory).admin();
  await admin.connect();
  try {
    const [socket] = sockets;
    return socket === undefined ? [] : parseLogDirs(await exchange(socket, request()));
  } finally {
    await admin.disconnect();
  }
}

function exchange(socket: Socket, question: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const timer = setTimeout(() => reject(new Error("no answer")), timeoutMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      socket.removeAllListeners("data");
      settle();
    };
    socket.removeAllListeners("data");
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 8 && received.length >= 4 + received.readInt32BE(0)) {
        const size = received.readInt32BE(0);
        const answer = received.subarray(4, 4 + size);
        received = received.subarray(4 + size);
        if (answer.readInt32BE(0) === correlationId) {
          end(() => resolve(answer.subarray(4)));
          return;
        }
      }
    });
    socket.once("close", () => end(() => reject(new Error("closed"))));
    socket.write(question);
  });
}

/**
 * DescribeLogDirs v1, https://kafka.apache.org/protocol.html#The_Messages_DescribeLogDirs
 *
 *     Request => [topics]
 *       topics => topic [partitions]    (a null array asks for all partitions of all topics)
 */
function request(): Buffer {
  const client = Buffer.from("cdc-bench");
  const body = Buffer.alloc(4 + 2 + 2 + 4 + 2 + client.length + 4);
  let at = body.writeInt32BE(body.length - 4, 0);
  at = body.writeInt16BE(describeLogDirs.apiKey, at);
  at = body.writeInt16BE(describeLogDirs.apiVersion, at);
  at = body.writeInt32BE(correlationId, at);
  at = body.writeInt16BE(client.length, at);
  at += client.copy(body, at);
  body.writeInt32BE(-1, at);
  return body;
}

/**
 *     Response => throttle_time_ms [results]
 *       results => error_code log_dir [topics]
 *         topics => name [partitions]
 *           partitions => partition_index partition_size offset_lag is_future_key
 */
function parseLogDirs(bytes: Buffer): readonly LogSize[] {
  let at = 4;
  const int32 = (): number => {
    at += 4;
    return bytes.readInt32BE(at - 4);
  };
  const text = (): string => {
    const length = bytes.readInt16BE(at);
    at += 2 + length;
    return bytes.toString("utf8", at - length, at);
  };
  const found: LogSize[] = [];
  for (let directories = int32(); directories > 0; directories--) {
    at += 2;
    text();
    for (let topics = int32(); topics > 0; topics--) {
      const topic = text();
      for (let partitions = int32(); partitions > 0; partitions--) {
        const partition = int32();
        found.push({ topic, partition, bytes: Number(bytes.readBigInt64BE(at)) });
        at += 8 + 8 + 1;
      }
    }
  }
  return found;
}
