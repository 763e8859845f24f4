import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { BrokerOffsets } from "./broker-offsets.ts";
import type { ClusterQuestions } from "./cluster-questions.ts";

const noCluster = { close: async () => {} } as ClusterQuestions;

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
  const kafka = new Kafka({ brokers: [`127.0.0.1:${port}`], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  const offsets = new BrokerOffsets(() => kafka.admin(), "g", noCluster);
  try {
    await expect(offsets.topics()).rejects.toMatchObject({ code: "brokers-unreachable" });
    expect(answered).toBeGreaterThan(1);
  } finally {
    await offsets.close();
    server.close();
  }
});
