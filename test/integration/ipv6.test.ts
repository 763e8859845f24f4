import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningKafka, startKafka } from "../../scripts/stack/kafka.mjs";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics } from "./stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));
const skipReason = (await missingForKafka()) || (hasIPv6 ? "" : "this machine has no address ::1");

const drivers: readonly (readonly [string, (options: { readonly brokers: string[] }) => KafkaDriver])[] = [
  ["kafkajs", kafkajs],
  ...platformaticClients.map(
    ({ major, ...client }) =>
      [`platformatic ${major}`, (options: { readonly brokers: string[] }) => platformatic({ ...options, ...client })] as const,
  ),
  ...(withoutConfluent === null ? [["confluent", confluent] as const] : []),
];

/** All that clients know of the broker is an IPv6 address: it is what they are given, and what the broker advertises. */
describe.skipIf(skipReason !== "")("a broker at an IPv6 address", { meta: { skipReason } }, () => {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-ipv6-"));
  let kafka: RunningKafka;
  let proxy: Server;
  let brokers: string[];

  beforeAll(async () => {
    const [front = 0, back = 0] = await freePorts(2);
    brokers = [`[::1]:${front}`];
    proxy = createServer((client) => {
      const broker = connect(back, "127.0.0.1");
      client.pipe(broker).pipe(client);
      client.on("error", () => {}).on("close", () => broker.destroy());
      broker.on("error", () => {}).on("close", () => client.destroy());
    }).listen(front, "::1");
    kafka = await startKafka({
      dir,
      listeners: { SIX: back },
      advertised: { SIX: `[::1]:${front}` },
      config: {
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SIX:PLAINTEXT",
      },
    });
    const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
    const [admin, producer] = [client.admin(), client.producer()];
    await admin.connect();
    await createTopics(admin, [{ topic: "rows", numPartitions: 1 }]);
    await admin.disconnect();
    await producer.connect();
    await producer.send({ topic: "rows", messages: [1, 2, 3].map((id) => ({ value: JSON.stringify({ id }) })) });
    await producer.disconnect();
  });
  afterAll(async () => {
    proxy.close();
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test.for(drivers)("is read, %s", async ([name, make]) => {
    let rows = 0;
    const consumer = createConsumer({
      driver: make({ brokers }),
      groupId: `read by ${name}`,
      topics: ["rows"],
      signals: false,
      logger: false,
    });
    consumer.on("*", () => (++rows === 3 ? void consumer.stop() : undefined));
    await consumer.run();
    expect(rows).toBe(3);
  });

  test.for([
    ["run", ["--topics", "rows"], /^rows +3 +3 +0 /m],
    ["inspect", ["--topics", "rows"], /\b3\b/],
    ["doctor", ["--topics", "rows"], /ok/],
    ["compare", ["--topics", "rows", "--rounds", "1"], /kafkajs/],
    ["offsets", ["--group", "moved", "--topics", "rows", "--reset", "latest", "--execute"], /Committed 1 of 1/],
    ["produce", ["--formats", "json", "--rows", "100", "--create-topics"], /100/],
  ] as const)("is taken by cdc-bench %s", async ([command, args, said]) => {
    const env = { PATH: process.env["PATH"], XDG_STATE_HOME: dir };
    const { stdout } = await promisify(execFile)(process.execPath, [binary, command, "--brokers", brokers.join(), ...args], { env });
    expect(stdout).toMatch(said);
  });
});
