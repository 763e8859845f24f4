import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readExamples, readPart } from "../../scripts/example/examples.mjs";
import { ensureJars } from "../../scripts/stack/jars.mjs";
import { startCluster, startKafka } from "../../scripts/stack/kafka.mjs";
import { defaultTables } from "../../scripts/stack/connectors.mjs";
import { type Mariadb, startMariadb } from "../../scripts/stack/mariadb.mjs";
import { withDatabase } from "../../scripts/stack/postgres.mjs";
import { isMissingRequirement, StackError } from "../../scripts/stack/stack-error.mjs";
import { startStack } from "../../scripts/stack/start-stack.mjs";
import type { StackAddresses } from "../../scripts/stack/state.mjs";
import { debeziumMariadbJars, kafkaReleases, versions } from "../../scripts/stack/versions.mjs";
import { ordersDdl, ordersTable } from "../services/orders-table.ts";
import { endToEndDdl, endToEndTables } from "./end-to-end-columns.ts";

/** What a test is told when it asks for a part of the stack: where it is, or why this machine cannot have it. */
export type Answer<Part> = { readonly part: Part } | { readonly missing: string };

/** The one broker that all integration tests of a run share; with `CDCKIT_BROKERS=3`, the one cluster. */
export interface SharedKafka {
  /** With commas between. */
  readonly brokers: string;
  /** Kafka's own tools, for `runKafkaTool` and `produceLines` of scripts/stack/kafka.mjs. */
  readonly classPath: string;
}

/** The one stack that all integration tests of a run share: Debezium follows `sales.salesorderdetail`, the tables of `e2e` and those of the examples. */
export interface SharedStack extends StackAddresses {
  readonly classPath: string;
}

/** MariaDB beside the stack, whose Connect has the connector for it. */
export type SharedMariadb = Mariadb;

interface Started<Part> {
  readonly part: Part;
  stop(): Promise<void>;
}

/**
 * Serves the run's test files, which live in processes of their own: a part starts when the first of them asks for it,
 * so a run without integration tests starts nothing, and ends with the run.
 */
export interface StackService {
  readonly url: string;
  close(): Promise<void>;
}

export async function startStackService(log: (line: string) => void): Promise<StackService> {
  const root = mkdtempSync(join(tmpdir(), "cdckit-test-"));
  const starting = new Map<string, Promise<Answer<Started<unknown>>>>();
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    let answer = starting.get(path);
    if (answer === undefined) {
      answer = answerOf(() => startPart(path, root, log));
      starting.set(path, answer);
    }
    void answer.then((found) => response.end(JSON.stringify("missing" in found ? found : { part: found.part.part })));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      for (const answer of await Promise.all(starting.values())) {
        if ("part" in answer) await answer.part.stop();
      }
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function startPart(path: string, root: string, log: (line: string) => void): Promise<Started<unknown>> {
  switch (path) {
    case "/kafka":
      return startSharedKafka(root, log);
    case "/stack":
      return startSharedStack(root, log);
    case "/mariadb":
      return startSharedMariadb(root, log);
    default:
      throw new Error(`no part of the stack is called ${path}`);
  }
}

async function startSharedKafka(root: string, log: (line: string) => void): Promise<Started<SharedKafka>> {
  const { CDCKIT_KAFKA: release = versions.kafka, CDCKIT_BROKERS: brokers = "1" } = process.env;
  const jars = kafkaReleases[release];
  if (jars === undefined) {
    throw new Error(`expected CDCKIT_KAFKA to be one of ${Object.keys(kafkaReleases).join(", ")}, found ${release}`);
  }
  const kafka = await (brokers === "3" ? startCluster : startKafka)({ dir: join(root, "kafka"), jars, log });
  return { part: { brokers: kafka.brokers, classPath: kafka.classPath }, stop: kafka.stop };
}

async function startSharedStack(root: string, log: (line: string) => void): Promise<Started<SharedStack>> {
  const examples = readExamples();
  const exampleTables = [...new Set(examples.flatMap(({ tables }) => tables))];
  const exampleDdl = examples.map((example) => readPart(example, "tables.sql") ?? "").join("\n");
  const stack = await startStack({
    dir: join(root, "stack"),
    tables: [defaultTables, endToEndTables, ordersTable, ...exampleTables].join(","),
    plugins: await mariadbConnector(log).then(
      (set) => [set],
      () => [], // who asks for MariaDB is told why
    ),
    log,
    async prepare({ postgres, registryUrl }) {
      await withDatabase(postgres, (client) => client.query(`${endToEndDdl}${ordersDdl}${exampleDdl}`));
      await driftIds(registryUrl);
    },
  });
  return { part: { ...stack.addresses, classPath: stack.classPath }, stop: () => stack.stop() };
}

async function startSharedMariadb(root: string, log: (line: string) => void): Promise<Started<SharedMariadb>> {
  await mariadbConnector(log);
  const { home, database, stop } = await startMariadb({ dir: join(root, "mariadb"), log });
  return { part: { home, database }, stop };
}

async function mariadbConnector(log: (line: string) => void): Promise<typeof debeziumMariadbJars> {
  try {
    await ensureJars(debeziumMariadbJars, { log });
    return debeziumMariadbJars;
  } catch (cause) {
    throw new StackError("mariadb-missing", cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Apicurio numbers contents and versions apart, and a message that names one while the API looks up the other goes unnoticed in a fresh
 * registry, where both are equal. Registering the same thing again moves only one of the two.
 */
async function driftIds(registryUrl: string): Promise<void> {
  const url = `${registryUrl.replace("ccompat/v7", "registry/v2")}/groups/default/artifacts?ifExists=RETURN_OR_UPDATE`;
  const headers = { "content-type": "application/json", "x-registry-artifactid": "drift", "x-registry-artifacttype": "AVRO" };
  const body = JSON.stringify({ type: "record", name: "Drift", fields: [{ name: "x", type: "int" }] });
  for (let times = 0; times < 7; times++) {
    const response = await fetch(url, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`the registry refused a schema: HTTP ${response.status}`);
  }
}

/** A machine without Java is a reason to skip; anything else that goes wrong is told too, and fails the test that asked. */
async function answerOf<Part>(start: () => Promise<Part>): Promise<Answer<Part> & { readonly failed?: true }> {
  try {
    return { part: await start() };
  } catch (error) {
    const missing = error instanceof Error ? error.message : String(error);
    return isMissingRequirement(error) ? { missing } : { missing, failed: true };
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
