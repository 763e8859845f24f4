import { spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { bundledRecording, loadRecording } from "@cdckit/testkit";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, username } from "../integration/secured-kafka.ts";
import { createTopics } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const topic = "secured.orders";
const records = 200;
const registryCanary = "canary-registry-token";
const refusedCanary = "canary-refused-password";

type ListenerName = "plain" | "sasl" | "tls" | "saslTls" | "mutualTls";

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("cdc-bench on a secured cluster", { meta: { skipReason } }, () => {
  let kafka: SecuredKafka;
  let registry: Server;
  let registryUrl: string;
  let printed = "";

  beforeAll(async () => {
    kafka = await startSecuredKafka();
    await fillTopic(kafka.plain);
    registry = createServer((request, response) => {
      const isKnown = request.headers.authorization === `Bearer ${registryCanary}`;
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" }).end(isKnown ? '["AVRO"]' : "{}");
    });
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    registryUrl = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    registry.closeAllConnections();
    registry.close();
    await kafka.stop();
  });

  afterEach(() => {
    for (const secret of [password, registryCanary, refusedCanary, kafka.client.key.split("\n")[1] ?? ""]) {
      expect(printed.includes(secret), "a secret was printed").toBe(false);
    }
    expect(printed).not.toContain("PRIVATE KEY");
    printed = "";
  });

  function cdcBench(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"], ...env } });
      const seen = { stdout: "", stderr: "" };
      child.stdout.on("data", (chunk: Buffer) => (seen.stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (seen.stderr += chunk.toString()));
      child.on("error", reject);
      child.on("close", (code) => {
        printed += seen.stdout + seen.stderr;
        resolve({ ...seen, code });
      });
    });
  }

  const plainLogin = ["--sasl-mechanism", "plain", "--sasl-username", username];
  const withPassword = { KAFKA_SASL_PASSWORD: password };

  test("run reads a topic with PLAIN, whatever the size of its fetches, and says nothing of the password", async () => {
    const args = ["run", "-b", kafka.sasl, "-t", topic, ...plainLogin, "--fetch-bytes", "10k", "--json", "--debug"];
    const { code, stdout, stderr } = await cdcBench(args, withPassword);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      settings: { source: kafka.sasl, fetchBytes: 10_000 },
      runs: [{ records, errorRecords: 0 }],
    });
  });

  test("inspect reads a topic with SCRAM-SHA-256, all of it said by the environment", async () => {
    const env = { KAFKA_BROKERS: kafka.sasl, KAFKA_SASL_MECHANISM: "SCRAM-SHA-256", KAFKA_SASL_USERNAME: username, ...withPassword };
    const { code, stdout, stderr } = await cdcBench(["inspect", "-t", topic, "--json"], env);
    expect(code, stderr).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(records);
  });

  test("run reads a topic with SCRAM-SHA-512 by TLS", async () => {
    const login = ["--sasl-mechanism", "scram-sha-512", "--sasl-username", username];
    const { code, stdout, stderr } = await cdcBench(
      ["run", "-b", kafka.saslTls, "-t", topic, "--ssl", "--ssl-ca", kafka.files.ca, ...login, "--json"],
      withPassword,
    );
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ runs: [{ records, errorRecords: 0 }] });
  });

  test("inspect shows a certificate of its own, whose key the environment holds as text", async () => {
    const env = {
      KAFKA_SSL: "true",
      KAFKA_SSL_CA: kafka.files.ca,
      KAFKA_SSL_CERT: kafka.client.cert,
      KAFKA_SSL_KEY: kafka.client.key.replaceAll("\n", "\\n"),
    };
    const { code, stdout, stderr } = await cdcBench(["inspect", "-b", kafka.mutualTls, "-t", topic, "--limit", "3", "--json"], env);
    expect(code, stderr).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(3);
  });

  test("doctor finds all well by TLS, with a registry that wants a token", async () => {
    const args = ["doctor", "-b", kafka.tls, "-t", topic, "--ssl-ca", kafka.files.ca, "--registry", registryUrl];
    const { code, stdout } = await cdcBench(args, { SCHEMA_REGISTRY_TOKEN: registryCanary });
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(`${kafka.tls} reached by TLS`);
    expect(stdout).not.toContain("PROBLEM");
  });

  describe("doctor says in words what is wanted, and ends with exit code 3", () => {
    const tlsArgs = (): readonly string[] => ["--ssl-ca", kafka.files.ca];
    test.each<[string, ListenerName, () => readonly string[], Readonly<Record<string, string>>, string]>([
      ["TLS", "tls", () => [], {}, "wants TLS, and the connection was plain: give --ssl"],
      ["TLS and a login", "saslTls", () => [], {}, "It also wants a login by SASL (SCRAM-SHA-512)"],
      ["a login", "sasl", () => [], {}, "wants a login by SASL (PLAIN, SCRAM-SHA-256, OAUTHBEARER): give --sasl-mechanism"],
      ["another password", "sasl", () => plainLogin, { KAFKA_SASL_PASSWORD: refusedCanary }, "refused the login (PLAIN)"],
      [
        "another mechanism",
        "sasl",
        () => ["--sasl-mechanism", "scram-sha-512", "--sasl-username", username],
        withPassword,
        "does not offer SCRAM-SHA-512, but PLAIN, SCRAM-SHA-256, OAUTHBEARER",
      ],
      ["no login", "plain", () => plainLogin, withPassword, "takes no login"],
      ["no TLS", "plain", () => ["--ssl"], {}, "does not speak TLS"],
      ["its authority", "tls", () => ["--ssl"], {}, "signed by an authority that is not known here: name it with --ssl-ca"],
      ["a certificate of the client", "mutualTls", tlsArgs, {}, "wants a certificate of the client: give --ssl-cert"],
    ])("%s", async (_what, listener, flags, env, said) => {
      const { code, stdout } = await cdcBench(["doctor", "-b", kafka[listener], ...flags(), "--json", "--debug"], env);
      expect(code, stdout).toBe(3);
      const { checks } = JSON.parse(stdout) as { readonly checks: readonly { readonly name: string; readonly detail: string }[] };
      expect(checks.find(({ name }) => name === "brokers")?.detail).toContain(said);
    });
  });

  test("a refused login ends run with the same sentence, also when the stack is asked for", async () => {
    const args = ["run", "-b", kafka.saslTls, "-t", topic, "--ssl-ca", kafka.files.ca, "--debug"];
    const login = { KAFKA_SASL_MECHANISM: "scram-sha-512", KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: refusedCanary };
    const { code, stdout, stderr } = await cdcBench(args, login);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("the broker refused the login (SCRAM-SHA-512)");
  });
});

async function fillTopic(brokers: string): Promise<void> {
  const client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
  const [admin, producer] = [client.admin(), client.producer({ idempotent: true, maxInFlightRequests: 1 })];
  await Promise.all([admin.connect(), producer.connect()]);
  await createTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
  const recorded = (await loadRecording(bundledRecording("salesorderdetail/json").file)).slice(0, records);
  await producer.send({
    topic,
    messages: recorded.map(({ key, value }) => ({ key: key as Buffer | null, value: value as Buffer | null })),
  });
  await Promise.all([admin.disconnect(), producer.disconnect()]);
}
