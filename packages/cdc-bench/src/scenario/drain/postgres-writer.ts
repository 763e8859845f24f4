import { performance } from "node:perf_hooks";
import { setTimeout as pass } from "node:timers/promises";
import type { SchemaSource } from "@cdckit/decode";
import { BenchError } from "../../bench-error.ts";
import { brokersText } from "../../leftovers/removers/kafka.ts";
import { type Thing, withoutLogin } from "../../leftovers/thing.ts";
import { type KafkaConnect, openConnect } from "../../load/connect.ts";
import type { RegistryConnection } from "../../load/connection.ts";
import { type Database, openDatabase } from "../../load/database.ts";
import { openRegistry, requireRegistry } from "../../load/schemas.ts";
import type { Observer } from "../../observe/observer.ts";
import type { Terminal } from "../../terminal.ts";
import type { WriteMeasure } from "../catch-up/backlog.ts";
import type { ClusterAccess } from "../catch-up/cluster-access.ts";
import { refuseFailed } from "../snapshot/await-snapshot.ts";
import { connectorConfig, templateOf } from "../snapshot/connector-config.ts";
import { chooseConverters, type SnapshotFormat } from "../snapshot/formats.ts";
import { createStatements, insertStatement, type OrderTable } from "../tables/sales-order-detail.ts";
import type { BacklogWriter } from "./run-drain.ts";

const rowsPerInsert = 500;
const askEveryMs = 200;
/** A connector that brings nothing for so long has lost its way: its snapshot of an empty table takes seconds. */
const silentMs = 120_000;

export interface PostgresWriterOptions {
  readonly cluster: ClusterAccess;
  /** Connect must be able to reach it under the same name. */
  readonly databaseUrl: string;
  readonly connectUrl: string;
  readonly registry: RegistryConnection | undefined;
  /** The registry as Connect's converters see it. */
  readonly converterRegistry: string | undefined;
  readonly format: SnapshotFormat;
  readonly partitions: number;
  readonly writers: number;
  readonly seed: number;
  /** All rows that will be written. */
  readonly rows: number;
  readonly env: Terminal["env"];
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
}

/** A table of its own in PostgreSQL, and a Debezium connector that brings its rows to Kafka. All of it is deleted at the end. */
export async function openPostgresWriter(options: PostgresWriterOptions): Promise<BacklogWriter> {
  const { cluster, databaseUrl, connectUrl, partitions, seed, rows, interrupt, observer } = options;
  const connector = cluster.name("connector");
  const slot = connector.replaceAll("-", "_");
  const table: OrderTable = { path: `public.${slot}`, rows, seed };
  const topic = `${connector}.${table.path}`;
  const connect = openConnect({ url: connectUrl, interrupt, onWait: (sentence) => observer.note(sentence) });
  await connect.info();
  await requireRegistry(options.registry);
  const settings = await settingsOf(options, connect);
  const databases: Database[] = [];
  try {
    for (let writer = 0; writer < options.writers; writer++) {
      databases.push(await openDatabase(databaseUrl)); // first: what is made nowhere would stay listed
    }
    for (const thing of thingsOf(options, connector, slot, table)) {
      await cluster.leftovers.making(thing);
    }
    for (const statement of createStatements("postgresql", table)) {
      await databases[0]?.query(statement);
    }
    await cluster.makeTopic(topic, { partitions });
    await connect.put(
      connector,
      connectorConfig(templateOf(databaseUrl, options.env), { connector, topicPrefix: connector, slot }, table.path, settings),
    );
  } catch (error) {
    await Promise.all(databases.map((database) => database.close()));
    throw error;
  }
  return new PostgresWriter(options, { connect, connector, table, topic, databases });
}

interface Parts {
  readonly connect: KafkaConnect;
  readonly connector: string;
  readonly table: OrderTable;
  readonly topic: string;
  readonly databases: readonly Database[];
}

class PostgresWriter implements BacklogWriter {
  readonly topic: string;
  readonly schemas: SchemaSource | undefined;
  readonly #options: PostgresWriterOptions;
  readonly #parts: Parts;
  #written = 0;

  constructor(options: PostgresWriterOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.topic = parts.topic;
    this.schemas = options.registry === undefined ? undefined : openRegistry(options.registry);
  }

  get expected(): BacklogWriter["expected"] {
    return { rows: this.#written, records: this.#written };
  }

  async write(records: number, phase: string): Promise<WriteMeasure> {
    const startedAtMs = performance.now();
    const before = this.#written;
    const end = before + records;
    await Promise.all(this.#parts.databases.map((database) => this.#insertUntil(database, end)));
    const insertedAtMs = performance.now();
    const written = this.#written - before;
    await this.#inKafka(phase);
    const elapsedMs = performance.now() - startedAtMs;
    return {
      records: written,
      bytes: null,
      elapsedMs,
      perSecond: (written / elapsedMs) * 1e3,
      insertedPerSecond: (written / (insertedAtMs - startedAtMs)) * 1e3,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.databases.map((database) => database.close().catch(() => {}))); // every row was acknowledged
  }

  /** Writers take the next rows until there are none. */
  async #insertUntil(database: Database, end: number): Promise<void> {
    while (this.#written < end && !this.#options.interrupt.aborted) {
      const from = this.#written;
      const to = Math.min(end, from + rowsPerInsert);
      this.#written = to;
      await database.query(insertStatement("postgresql", this.#parts.table, from, to));
    }
  }

  /** Until the connector has brought every row. Fails with the first cause if the connector does. */
  async #inKafka(phase: string): Promise<void> {
    const { cluster, interrupt, observer } = this.#options;
    let arrived = -1;
    let arrivedAtMs = performance.now();
    while (!interrupt.aborted) {
      const ends = (await cluster.endsOf([this.topic])).get(this.topic) ?? new Map<number, bigint>();
      const now = Number([...ends.values()].reduce((sum, end) => sum + end, 0n));
      if (now >= this.#written) {
        return;
      }
      if (now !== arrived) {
        arrived = now;
        arrivedAtMs = performance.now();
      }
      if (performance.now() - arrivedAtMs > silentMs) {
        throw new BenchError(
          "too-few-messages",
          `the connector brought ${arrived} of ${this.#written} rows, and nothing for ${silentMs / 1e3} s.`,
        );
      }
      observer.observe(() => ({ phase: `${phase}, Debezium`, done: arrived, total: this.#written, unit: "rows" }));
      await refuseFailed(this.#parts);
      await pass(askEveryMs, undefined, { signal: interrupt }).catch(() => {}); // the loop sees it
    }
  }
}

/** In the order in which they are made. */
function thingsOf(
  { cluster, connectUrl, databaseUrl, registry }: PostgresWriterOptions,
  connector: string,
  slot: string,
  table: OrderTable,
): readonly Thing[] {
  const databaseAt = withoutLogin(databaseUrl);
  return [
    { kind: "connector", name: connector, at: withoutLogin(connectUrl) },
    { kind: "topic", name: `${connector}.*`, at: brokersText(cluster.connection) },
    ...(registry === undefined ? [] : [{ kind: "registry-subject", name: `${connector}.*`, at: withoutLogin(registry.url) } as const]),
    { kind: "replication-slot", name: slot, at: databaseAt },
    { kind: "publication", name: slot, at: databaseAt },
    { kind: "table", name: table.path, at: databaseAt },
  ];
}

async function settingsOf(
  { format, registry, converterRegistry }: PostgresWriterOptions,
  connect: KafkaConnect,
): Promise<Readonly<Record<string, string>>> {
  const wishes = { formats: [format], plugins: await connect.plugins(), registry, converterRegistry, template: {} };
  const [choice] = chooseConverters(wishes).choices;
  if (choice === undefined) {
    throw new BenchError("usage", `this Kafka Connect does not write ${format}.`);
  }
  return choice.settings;
}
