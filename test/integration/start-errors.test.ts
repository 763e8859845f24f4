import { selfSigned } from "./self-signed.ts";
import { createServer as createHttp, type Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { kafkajs, type KafkaJsOptions } from "@cdckit/kafkajs";
import { platformatic, type PlatformaticOptions } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, test } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, username } from "./secured-kafka.ts";
import { createTopics } from "./stack.ts";

const skipReason = await missingForKafka();
/** The other drivers, each with what it has in common with them. */
const others: readonly (readonly [string, (options: Pick<PlatformaticOptions, "brokers" | "ssl">) => KafkaDriver])[] = [
  ...platformaticClients.map(
    ({ major, ...client }) =>
      [
        `platformatic ${major}`,
        (options: Pick<PlatformaticOptions, "brokers" | "ssl">) => platformatic({ ...options, ...client }),
      ] as const,
  ),
  ...(withoutConfluent === null
    ? [
        [
          "confluent",
          ({ brokers, ssl }: Pick<PlatformaticOptions, "brokers" | "ssl">) => confluent({ brokers, ssl: ssl !== undefined }),
        ] as const,
      ]
    : []),
];
const refusedCanary = "canary-refused-password";

describe.skipIf(skipReason !== "")("a start that cannot succeed", { meta: { skipReason } }, () => {
  let kafka: SecuredKafka;
  let http: HttpServer;
  let patientHttp: Server;
  let silent: Server;
  let lineHttp: Server;

  beforeAll(async () => {
    kafka = await startSecuredKafka();
    http = createHttp((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    silent = createServer(() => {}).listen(0, "127.0.0.1");
    patientHttp = createServer((socket) =>
      socket.on("error", () => {}).once("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")),
    );
    patientHttp.listen(0, "127.0.0.1");
    lineHttp = createServer((socket) =>
      socket
        .on("error", () => {})
        .on("data", (chunk) => {
          if (chunk.includes("\r\n\r\n")) socket.end("HTTP/1.1 200 OK\r\n\r\n");
        }),
    );
    lineHttp.listen(0, "127.0.0.1");
    const admin = new Kafka({ brokers: [kafka.plain], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await createTopics(admin, [{ topic: "rows" }]);
    await admin.disconnect();
  });
  afterAll(async () => {
    http.closeAllConnections();
    http.close();
    patientHttp.close();
    lineHttp.close();
    silent.close();
    await kafka.stop();
  });

  const at = (server: Server | HttpServer): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const plain = { mechanism: "plain", username, password } as const;

  async function fails(driver: KafkaDriver): Promise<{ readonly code: string; readonly message: string; readonly tookMs: number }> {
    const begin = performance.now();
    const consumer = createConsumer({ driver, groupId: "g", topics: ["rows"], signals: false });
    consumer.on("*", () => {});
    const error = await consumer.run().then(
      () => new Error("it ran"),
      (reason: Error & { code?: string }) => reason,
    );
    return { code: (error as { code?: string }).code ?? "", message: error.message, tookMs: performance.now() - begin };
  }

  // Beside each other, and the one that takes longest first.
  test.concurrent.for<[string, () => KafkaJsOptions, string, string]>([
    ["a port that answers nothing", () => ({ brokers: [at(silent)] }), "brokers-unreachable", "accepts connections and answers nothing"],
    [
      "a login at a port without logins",
      () => ({ brokers: [kafka.plain], sasl: plain }),
      "authentication-failed",
      "takes no login: leave `sasl` out",
    ],
    [
      "no login at a port with logins",
      () => ({ brokers: [kafka.sasl] }),
      "authentication-failed",
      "wants a login by SASL (PLAIN, SCRAM-SHA-256, OAUTHBEARER)",
    ],
    [
      "a mechanism that is not offered",
      () => ({ brokers: [kafka.sasl], sasl: { ...plain, mechanism: "scram-sha-512" } }),
      "authentication-failed",
      "does not offer SCRAM-SHA-512, but PLAIN, SCRAM-SHA-256, OAUTHBEARER",
    ],
    [
      "a wrong password",
      () => ({ brokers: [kafka.sasl], sasl: { ...plain, password: refusedCanary } }),
      "authentication-failed",
      "refused the login (PLAIN)",
    ],
    ["TLS at a plain port", () => ({ brokers: [kafka.plain], ssl: true }), "protocol-mismatch", "does not speak TLS: leave `ssl` out"],
    ["a plain connection at a TLS port", () => ({ brokers: [kafka.tls] }), "protocol-mismatch", "wants TLS"],
    ["an authority that is not known", () => ({ brokers: [kafka.tls], ssl: true }), "authentication-failed", "ssl.ca"],
    [
      "no certificate of the client",
      () => ({ brokers: [kafka.mutualTls], ssl: { rejectUnauthorized: false } }),
      "authentication-failed",
      "wants a certificate of the client: set `ssl.cert`",
    ],
    [
      "the key of another certificate",
      () => ({ brokers: [kafka.mutualTls], ssl: { rejectUnauthorized: false, cert: kafka.client.cert, key: selfSigned("other").key } }),
      "authentication-failed",
      "the key that is given is not that of the certificate",
    ],
    ["an HTTP port", () => ({ brokers: [at(http)] }), "protocol-mismatch", "speaks HTTP"],
    ["an HTTP port that keeps the connection", () => ({ brokers: [at(patientHttp)] }), "protocol-mismatch", "speaks HTTP"],
    ["an HTTP port that waits for the end of a line", () => ({ brokers: [at(lineHttp)] }), "protocol-mismatch", "speaks HTTP"],
    ["a host that does not exist", () => ({ brokers: ["no-such-host.invalid:9092"] }), "brokers-unreachable", "ENOTFOUND"],
  ])("%s", async ([_name, options, code, said], { expect }) => {
    const failure = await fails(kafkajs(options()));
    expect.soft(failure.message).toContain(said);
    expect.soft(failure.code).toBe(code);
    expect.soft(failure.tookMs).toBeLessThan(20_000); // silence is asked for twice, and other tests take of the machine
    expect(failure.message).not.toContain(refusedCanary);
  });

  const wanted: readonly (readonly [string, () => Pick<PlatformaticOptions, "brokers" | "ssl">, string, string])[] = [
    [
      "no login at a port with logins",
      () => ({ brokers: [kafka.sasl] }),
      "authentication-failed",
      "wants a login by SASL (PLAIN, SCRAM-SHA-256, OAUTHBEARER)",
    ],
    ["a plain connection at a TLS port", () => ({ brokers: [kafka.tls] }), "protocol-mismatch", "TLS"],
    ["TLS at a plain port", () => ({ brokers: [kafka.plain], ssl: true }), "protocol-mismatch", "does not speak TLS"],
    ["an HTTP port", () => ({ brokers: [at(http)] }), "protocol-mismatch", "HTTP"],
  ];
  const ofOthers = others.flatMap(([name, make]) => wanted.map(([what, ...one]) => [name, what, make, ...one] as const));
  test.concurrent.for(ofOthers)("%s, %s", async ([_name, _what, make, options, code, said], { expect }) => {
    const failure = await fails(make(options()));
    expect.soft(failure.message).toContain(said);
    expect.soft(failure.code).toBe(code);
    expect.soft(failure.tookMs).toBeLessThan(20_000);
  });
});
