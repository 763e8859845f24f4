import type { SchemaSource } from "@cdckit/decode";
import { performance } from "node:perf_hooks";
import { inGroup } from "../../leftovers/in-group.ts";
import type { Leftovers } from "../../leftovers/leftovers.ts";
import { brokersText } from "../../leftovers/removers/kafka.ts";
import type { Thing } from "../../leftovers/thing.ts";
import { type Cluster, openCluster, type TopicExtent } from "../../load/cluster.ts";
import type { ConnectorConfig, KafkaConnect } from "../../load/connect.ts";
import { type ClusterConnection, createClusterDriver, type RegistryConnection } from "../../load/connection.ts";
import type { Database } from "../../load/database.ts";
import { createTopics } from "../../load/topics.ts";
import { logSizes } from "../../load/log-sizes.ts";
import type { Profiling } from "../../profile/profiling.ts";
import type { Observer } from "../../observe/observer.ts";
import { deleteAdded, type OrderTable } from "../tables/sales-order-detail.ts";
import { awaitSnapshot, type WrittenSnapshot } from "./await-snapshot.ts";
import { measureCompression } from "./compression.ts";
import { type ConnectorNames, connectorConfig } from "./connector-config.ts";
import { drain, type Drained } from "./drain.ts";
import { type ConverterChoice, formatLabels } from "./formats.ts";
import type { CompressionMeasure, ProcessMeasure, TailMeasure } from "./result.ts";
import { type MessageSample, sampleMessages } from "./sample.ts";
import type { ServiceWatch } from "./services.ts";
import { measureTail } from "./tail.ts";

/** What all measurements of a run share. */
export interface SnapshotScene {
  readonly connection: ClusterConnection;
  readonly registry: RegistryConnection | undefined;
  readonly schemas: SchemaSource | undefined;
  readonly connect: KafkaConnect;
  readonly connectAt: string;
  readonly registryAt: string | null;
  readonly database: Database | null;
  readonly databaseAt: string | null;
  readonly template: ConnectorConfig;
  readonly table: string;
  /** The table as `create-table` makes it: rows may be added. Null if it is the user's own. */
  readonly ownTable: OrderTable | null;
  readonly expectedRows: number | null;
  readonly tailRowsPerSecond: number;
  readonly tailMs: number;
  readonly compressionMessages: number;
  readonly keepsTopics: boolean;
  readonly services: ServiceWatch;
  readonly leftovers: Leftovers;
  readonly observer: Observer;
  /** Records what the consumer does, if a profile is wanted. */
  readonly record: Profiling["record"];
  readonly interrupt: AbortSignal;
}

export interface FormatRun {
  readonly names: ConnectorNames;
  readonly converter: ConverterChoice;
  /** Such as `round 1 of 3, 2 of 4`. */
  readonly title: string;
  /** What does not change from round to round is measured once. */
  readonly isFirst: boolean;
}

/** One connector, from its deployment to the last message consumed. */
export interface FormatMeasured extends Omit<Drained, "written"> {
  readonly messages: number;
  readonly snapshotMs: number;
  readonly connectorStartMs: number;
  readonly connectorWriteMs: number;
  readonly storedBytes: number | null;
  readonly sample: MessageSample;
  readonly tail: TailMeasure | null;
  readonly compression: readonly CompressionMeasure[] | null;
  readonly processes: readonly ProcessMeasure[];
}

/** Measures one format once, and deletes what it made. Null if it was interrupted. */
export async function measureFormat(scene: SnapshotScene, run: FormatRun): Promise<FormatMeasured | null> {
  const things = thingsOf(scene, run);
  for (const thing of things) {
    await scene.leftovers.making(thing);
  }
  // A cluster of its own: kafkajs goes on to ask for each topic that it was ever asked about, and fails after one is deleted.
  const cluster = await openCluster(scene.connection);
  try {
    await createTopics(scene.connection, [{ topic: `${run.names.topicPrefix}.${scene.table}`, partitions: 1 }]);
    return await deployAndMeasure({ ...scene, cluster }, run);
  } finally {
    await cluster.close();
    for (const thing of things) {
      if (scene.keepsTopics && (thing.kind === "topic" || thing.kind === "registry-subject")) {
        await scene.leftovers.gone(thing);
      } else {
        await scene.leftovers.remove(thing).catch(() => {}); // tried again, and told, at the end of the command
      }
    }
  }
}

/** In the order in which they are removed: who writes first. */
function thingsOf({ connection, connectAt, registryAt, databaseAt, database }: SnapshotScene, { names }: FormatRun): readonly Thing[] {
  const at = brokersText(connection);
  return [
    { kind: "connector", name: names.connector, at: connectAt },
    // Debezium and its transformations name topics; all of them start with the prefix.
    { kind: "topic", name: `${names.topicPrefix}.*`, at },
    ...(registryAt === null ? [] : [{ kind: "registry-subject", name: `${names.topicPrefix}.*`, at: registryAt } as const]),
    ...(databaseAt === null || database?.kind !== "postgresql"
      ? []
      : ([
          { kind: "replication-slot", name: names.slot, at: databaseAt },
          { kind: "publication", name: names.slot, at: databaseAt },
        ] as const)),
  ];
}

interface OpenScene extends SnapshotScene {
  readonly cluster: Cluster;
}

async function deployAndMeasure(scene: OpenScene, run: FormatRun): Promise<FormatMeasured | null> {
  const { interrupt, observer, services } = scene;
  const { converter, title } = run;
  const label = formatLabels[converter.format];
  const startedAtMs = performance.now();
  const startedAt = Date.now();
  services.mark("start");
  const written = await writeSnapshot(scene, run);
  services.mark("written");
  if (written === null) {
    return null;
  }
  const drained = await inGroup(scene, (groupId) =>
    scene.record(() =>
      drain({
        driver: createClusterDriver(scene.connection),
        schemas: scene.schemas,
        groupId,
        extent: written.extent,
        interrupt,
        onProgress: ({ records, elapsedMs }, details) =>
          observer.observe(() => ({
            phase: `${title}, ${label}: consuming`,
            done: records,
            total: Number(written.extent.maxRecords),
            perSecond: elapsedMs === 0 ? 0 : (records / elapsedMs) * 1e3,
            lag: Number(written.extent.maxRecords) - records,
            ...details(),
          })),
      }),
    ),
  );
  services.mark("drained");
  if (interrupt.aborted) {
    return null;
  }
  const source = { kind: "cluster", connection: scene.connection, topics: [written.extent.topic], registry: scene.registry } as const;
  const storedBytes = (await logSizes(scene.connection, [written.extent.topic]))?.get(written.extent.topic) ?? null;
  const sample = await sampleMessages(source, converter.format, interrupt);
  const tail = await tailOf(scene, run, written.extent);
  if (run.isFirst) {
    observer.observe(() => ({ phase: `${title}, ${label}: compressing ${scene.compressionMessages} messages again` }));
  }
  const compression = run.isFirst && !interrupt.aborted ? await compressionOf(scene, run, source) : null;
  return interrupt.aborted
    ? null
    : {
        messages: drained.reading.records,
        snapshotMs: written.endedAtMs - startedAtMs,
        ...drained,
        connectorStartMs: Math.max(0, (drained.written?.firstMs ?? startedAt) - startedAt),
        connectorWriteMs: drained.written === null ? 0 : drained.written.lastMs - drained.written.firstMs,
        storedBytes,
        sample,
        tail,
        compression,
        processes: services.used(),
      };
}

function compressionOf(
  scene: SnapshotScene,
  { names }: FormatRun,
  source: Parameters<typeof measureCompression>[0]["source"],
): ReturnType<typeof measureCompression> {
  return measureCompression({
    source,
    topicPrefix: `${names.topicPrefix}-batches`,
    maxMessages: scene.compressionMessages,
    batchBytes: Number(scene.template["producer.override.batch.size"] ?? 16_384),
    leftovers: scene.leftovers,
    interrupt: scene.interrupt,
  });
}

/** Deploys the connector, and waits until it has written every row. Null if it was interrupted. */
async function writeSnapshot(scene: OpenScene, { names, converter, title }: FormatRun): Promise<WrittenSnapshot | null> {
  const { connect, cluster, expectedRows, interrupt, observer } = scene;
  const startedAtMs = performance.now();
  await connect.put(names.connector, connectorConfig(scene.template, names, scene.table, converter.settings));
  return awaitSnapshot({
    cluster,
    connect,
    connector: names.connector,
    topicPrefix: names.topicPrefix,
    expectedRows,
    interrupt,
    onProgress: (messages) =>
      observer.observe(() => ({
        phase: `${title}, ${formatLabels[converter.format]}: snapshot`,
        done: messages,
        ...(expectedRows !== null && { total: expectedRows }),
        perSecond: (messages / Math.max(1, performance.now() - startedAtMs)) * 1e3,
      })),
  });
}

/** Rows can be added to a table of ours alone. They are deleted after the connector. */
async function tailOf(scene: OpenScene, { names, title, converter }: FormatRun, extent: TopicExtent): Promise<TailMeasure | null> {
  const { database, ownTable, interrupt, observer, leftovers } = scene;
  if (database === null || ownTable === null || scene.tailMs === 0 || interrupt.aborted) {
    return null;
  }
  const [present = extent] = await scene.cluster.extentsOf([extent.topic]);
  try {
    return await inGroup(scene, (groupId) =>
      measureTail({
        database,
        table: ownTable,
        extent: present,
        driver: createClusterDriver(scene.connection),
        schemas: scene.schemas,
        groupId,
        rowsPerSecond: scene.tailRowsPerSecond,
        durationMs: scene.tailMs,
        interrupt,
        onProgress: (rows, total) =>
          observer.observe(() => ({ phase: `${title}, ${formatLabels[converter.format]}: live`, done: rows, total, unit: "rows" })),
      }),
    );
  } finally {
    await leftovers.remove({ kind: "connector", name: names.connector, at: scene.connectAt }).catch(() => {});
    await deleteAdded(database, ownTable);
  }
}
