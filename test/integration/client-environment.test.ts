/** What variables say, on a real broker that is secured in every way. */
import { readFileSync } from "node:fs";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs, readClientEnvironment } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, username } from "./secured-kafka.ts";
import { createTopics } from "./stack.ts";

const topic = "environment.orders";
const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("variables lead to a secured broker", { meta: { skipReason } }, () => {
  let kafka: SecuredKafka;

  beforeAll(async () => {
    kafka = await startSecuredKafka();
    const client = new Kafka({ brokers: [kafka.plain], logLevel: logLevel.NOTHING });
    const [admin, producer] = [client.admin(), client.producer()];
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await producer.send({ topic, messages: [{ value: '{"id":1}' }] });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  afterAll(() => kafka?.stop());

  const jaas = (secret: string): string =>
    `org.apache.kafka.common.security.scram.ScramLoginModule required username="${username}" password="${secret}";`;
  const login = { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password };
  const settings: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
    "without TLS and login": () => ({ KAFKA_BROKERS: kafka.plain }),
    "with a login alone": () => ({ KAFKA_BROKERS: kafka.sasl, KAFKA_SASL_MECHANISM: "plain", ...login }),
    "with TLS, the authority in a file": () => ({ KAFKA_BROKERS: kafka.tls, KAFKA_SSL_CA: kafka.files.ca }),
    "with TLS and a login, by Java's names": () => ({
      KAFKA_BOOTSTRAP_SERVERS: kafka.saslTls,
      KAFKA_SECURITY_PROTOCOL: "SASL_SSL",
      KAFKA_SASL_MECHANISM: "SCRAM-SHA-512",
      KAFKA_SASL_JAAS_CONFIG: jaas(password),
      KAFKA_SSL_TRUSTSTORE_TYPE: "PEM",
      KAFKA_SSL_TRUSTSTORE_LOCATION: kafka.files.ca,
    }),
    "with certificates of both, as texts of one line": () => ({
      KAFKA_BROKERS: kafka.mutualTls,
      KAFKA_SSL_CA: oneLine(kafka.files.ca),
      KAFKA_SSL_CERT: oneLine(kafka.files.cert),
      KAFKA_SSL_KEY: oneLine(kafka.files.key),
    }),
  };

  test.each(Object.entries(settings))("%s", async (name, env) => {
    const {
      connection,
      groupId = "",
      from,
    } = readClientEnvironment({
      ...env(),
      KAFKA_GROUP_ID: `group ${name}`,
      KAFKA_AUTO_OFFSET_RESET: "earliest",
    });
    const consumer = createConsumer({
      driver: kafkajs({ ...connection, maxWaitMs: 100 }),
      groupId,
      topics: [topic],
      ...(from && { from }),
    });
    const seen: unknown[] = [];
    consumer.on("*", (event) => {
      seen.push(event.kind === "row" ? event.row : event.kind);
      void consumer.stop();
    });
    await consumer.run();
    expect(seen).toEqual([{ id: 1 }]);
  });

  test("and a wrong password there is an error without it", async () => {
    const { connection } = readClientEnvironment({
      KAFKA_BROKERS: kafka.saslTls,
      KAFKA_SSL_CA: kafka.files.ca,
      KAFKA_SASL_MECHANISM: "SCRAM-SHA-512",
      KAFKA_SASL_JAAS_CONFIG: jaas("canary-wrong-password"),
    });
    const consumer = createConsumer({ driver: kafkajs(connection), groupId: "refused", topics: [topic], logger: false });
    consumer.on("*", () => {});
    const error = await consumer.run().then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error).toMatchObject({ code: "authentication-failed" });
    expect(JSON.stringify(error) + String(error?.cause)).not.toContain("canary");
  });
});

function oneLine(path: string): string {
  return readFileSync(path, "utf8").replaceAll("\n", "\\n");
}
