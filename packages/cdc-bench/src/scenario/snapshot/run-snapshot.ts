import type { SchemaSource } from "@cdckit/decode";
import { BenchError } from "../../bench-error.ts";
import type { Leftovers } from "../../leftovers/leftovers.ts";
import { withoutLogin } from "../../leftovers/thing.ts";
import type { Cluster } from "../../load/cluster.ts";
import { type ConnectorConfig, openConnect } from "../../load/connect.ts";
import type { ClusterConnection, RegistryConnection } from "../../load/connection.ts";
import type { Database } from "../../load/database.ts";
import { openSchemas, requireRegistry } from "../../load/schemas.ts";
import type { Profiling } from "../../profile/profiling.ts";
import type { Observer } from "../../observe/observer.ts";
import { createOrderTable, deleteAdded, findTable, type OrderTable } from "../tables/sales-order-detail.ts";
import { LostConnector } from "./await-snapshot.ts";
import type { ConnectorNames } from "./connector-config.ts";
import { chooseConverters, type ConverterChoice, formatLabels, type SnapshotFormat } from "./formats.ts";
import { type FormatMeasured, type FormatRun, measureFormat, type SnapshotScene } from "./measure-format.ts";
import { rotated } from "./rotation.ts";
import { watchServices } from "./services.ts";
import type { PlacedMeasure } from "./summarize.ts";

export interface SnapshotOptions {
  readonly cluster: Cluster;
  readonly connection: ClusterConnection;
  readonly registry: RegistryConnection | undefined;
  readonly converterRegistry: string | undefined;
  readonly connectUrl: string;
  /** Null: nothing is asked of the database, and no row is added. */
  readonly database: Database | null;
  readonly databaseUrl: string | null;
  readonly template: ConnectorConfig;
  /** `schema.name`. */
  readonly table: string;
  /** Made for this run and dropped after it; null: the table is there. */
  readonly madeTable: OrderTable | null;
  readonly formats: readonly SnapshotFormat[] | null;
  readonly rounds: number;
  readonly tailRowsPerSecond: number;
  readonly tailMs: number;
  readonly compressionMessages: number;
  readonly keepsTopics: boolean;
  readonly leftovers: Leftovers;
  readonly observer: Observer;
  /** Records what the consumer does, if a profile is wanted. */
  readonly record: Profiling["record"];
  readonly interrupt: AbortSignal;
}

export interface SnapshotRun {
  readonly choices: readonly ConverterChoice[];
  readonly placed: readonly PlacedMeasure[];
  readonly tableRows: number | null;
  readonly connectVersion: string;
  readonly notes: readonly string[];
  /** What ended the run early; null if it was completed or interrupted. */
  readonly failure: Error | null;
}

/** A connector that Kafka Connect loses in a restart is measured anew, once. */
const maxAttempts = 2;

/** Runs every format in every round. What an error ends is told with what was completed before it. */
export async function runSnapshot(options: SnapshotOptions): Promise<SnapshotRun> {
  const { observer, interrupt, connectUrl } = options;
  const restarts = { count: 0 };
  const connect = openConnect({
    url: connectUrl,
    interrupt,
    onWait: (sentence) => {
      restarts.count++;
      observer.note(sentence);
    },
  });
  const info = await connect.info();
  await requireRegistry(options.registry);
  await refuseOtherCluster(options, info.kafka_cluster_id);
  const { choices, notes } = chooseConverters({ ...options, plugins: await connect.plugins() });
  const { tableRows, ownTable } = await prepareTable(options);
  const scene: SnapshotScene = {
    ...options,
    connect,
    connectAt: withoutLogin(connectUrl),
    registryAt: options.registry === undefined ? null : withoutLogin(options.registry.url),
    databaseAt: options.databaseUrl === null ? null : withoutLogin(options.databaseUrl),
    schemas: openSchemasOf(options),
    ownTable,
    expectedRows: tableRows,
    services: watchServices({
      connect: connectUrl,
      broker: options.connection.brokers[0] ?? null,
      database: options.databaseUrl,
      registry: options.registry?.url ?? null,
    }),
  };
  const placed: PlacedMeasure[] = [];
  const runNotes = [...notes];
  let failure: Error | null = null;
  try {
    await measureRounds(scene, options.rounds, choices, placed, runNotes, restarts);
  } catch (error) {
    failure = interrupt.aborted ? null : error instanceof Error ? error : new Error(String(error)); // what an interrupt breaks off is no failure
  }
  return { choices, placed, tableRows, connectVersion: info.version, notes: runNotes, failure };
}

async function measureRounds(
  scene: SnapshotScene,
  rounds: number,
  choices: readonly ConverterChoice[],
  placed: PlacedMeasure[],
  notes: string[],
  restarts: { readonly count: number },
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const [index, converter] of rotated(choices, round).entries()) {
      if (scene.interrupt.aborted) {
        return;
      }
      const title = `round ${round + 1} of ${rounds}, ${index + 1} of ${choices.length}`;
      const measured = await measureUndisturbed(scene, { converter, title, isFirst: round === 0 }, notes, restarts);
      if (measured === null) {
        return;
      }
      placed.push({ round: round + 1, position: index + 1, converter, measured });
    }
  }
}

/** A restart of Kafka Connect spoils what is being measured: it is measured anew. */
async function measureUndisturbed(
  scene: SnapshotScene,
  run: Omit<FormatRun, "names">,
  notes: string[],
  restarts: { readonly count: number },
): Promise<FormatMeasured | null> {
  for (let attempt = 1; ; attempt++) {
    const before = restarts.count;
    const label = formatLabels[run.converter.format];
    try {
      const measured = await measureFormat(scene, { ...run, names: namesOf(run.converter.format) });
      if (measured === null || restarts.count === before) {
        return measured;
      }
      if (attempt === maxAttempts) {
        notes.push(`Kafka Connect was away while ${label} was measured (${run.title}): the connector's figures include that.`);
        return measured;
      }
    } catch (error) {
      if (!(error instanceof LostConnector) || attempt === maxAttempts) {
        throw error;
      }
    }
    notes.push(`Kafka Connect was away while ${label} was measured (${run.title}): it was measured anew.`);
    scene.observer.note(`${label} is measured anew`);
  }
}

/** Names that no other run has: a connector's name is where Connect keeps how far it got. */
function namesOf(format: SnapshotFormat): ConnectorNames {
  const unique = `${process.pid}_${Math.random().toString(36).slice(2, 8)}_${format.replace("-", "_")}`;
  return { connector: `cdc-bench-${unique}`, topicPrefix: `cdc_bench_${unique}`, slot: `cdc_bench_${unique}` };
}

function openSchemasOf({ connection, registry }: SnapshotOptions): SchemaSource | undefined {
  return openSchemas({ kind: "cluster", connection, topics: [], registry });
}

async function refuseOtherCluster({ cluster, connection, connectUrl }: SnapshotOptions, connectsTo: string | undefined): Promise<void> {
  const own = await cluster.clusterId();
  if (own !== null && connectsTo !== undefined && own !== connectsTo) {
    throw new BenchError(
      "usage",
      `Kafka Connect at ${withoutLogin(connectUrl)} writes to another cluster (${connectsTo}) than ${connection.brokers.join(",")} (${own}): give --brokers of the same.`,
    );
  }
}

/** How many rows there are, and the table if rows may be added to it. */
async function prepareTable(
  options: SnapshotOptions,
): Promise<{ readonly tableRows: number | null; readonly ownTable: OrderTable | null }> {
  const { database, databaseUrl, madeTable, table, leftovers, observer, interrupt } = options;
  if (database === null || databaseUrl === null) {
    return { tableRows: null, ownTable: null };
  }
  if (madeTable !== null) {
    observer.note(`making the table ${table} with ${madeTable.rows.toLocaleString("en-US")} rows; it is dropped at the end`);
    await leftovers.making({ kind: "table", name: table, at: withoutLogin(databaseUrl) });
    const rows = await createOrderTable(database, madeTable, {
      interrupt,
      onProgress: (done) => observer.observe(() => ({ phase: `making ${table}`, done, total: madeTable.rows, unit: "rows" })),
    });
    return { tableRows: rows, ownTable: madeTable };
  }
  const found = await findTable(database, table);
  if (found === null || found.rows === 0) {
    const what = found === null ? `there is no table ${table}` : `the table ${table} is empty`;
    throw new BenchError(
      "too-few-messages",
      `${what} in that database: cdc-bench create-table makes the published one, --rows N one for this run alone.`,
    );
  }
  if (found.own === null) {
    return { tableRows: found.rows, ownTable: null };
  }
  // A run that was killed while it added rows has left some.
  await deleteAdded(database, found.own);
  return { tableRows: Math.min(found.rows, found.own.rows), ownTable: found.own };
}
