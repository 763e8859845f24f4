import { BenchError } from "../../bench-error.ts";
import type { ConnectorConfig } from "../../load/connect.ts";
import type { ClusterConnection, RegistryConnection } from "../../load/connection.ts";
import { databaseKindOf } from "../../load/database.ts";
import { readTemplate, templateOf } from "../../scenario/snapshot/connector-config.ts";
import * as defaults from "../../scenario/snapshot/defaults.ts";
import { type SnapshotFormat, snapshotFormats } from "../../scenario/snapshot/formats.ts";
import type { SnapshotOptions } from "../../scenario/snapshot/run-snapshot.ts";
import { type OrderTable, qualifiedPath } from "../../scenario/tables/sales-order-detail.ts";
import type { Terminal } from "../../terminal.ts";
import { envValue } from "../env-value.ts";
import { parseRegistryUrl } from "../option-values.ts";
import type { SnapshotFlags } from "../snapshot.ts";
import { resolveCluster } from "../resolve-source.ts";
import { readStackState } from "../stack-state.ts";

/** Where everything is, of flags, environment and the stack. */
export interface Places {
  readonly connection: ClusterConnection | undefined;
  readonly registry: RegistryConnection | undefined;
  readonly converterRegistry: string | undefined;
  readonly connectUrl: string | undefined;
  readonly databaseUrl: string | undefined;
}

/** How much is measured. */
export type HowMuch = Pick<SnapshotOptions, "rounds" | "tailMs" | "tailRowsPerSecond" | "compressionMessages">;

export function howMuchOf({ rounds, tail, tailRate, quick: isQuick = false }: SnapshotFlags): HowMuch {
  return {
    rounds: rounds ?? (isQuick ? defaults.quick.rounds : defaults.defaultRounds),
    tailMs: tail === false ? 0 : (tail ?? (isQuick ? defaults.quick.tailMs : defaults.defaultTailMs)),
    tailRowsPerSecond: tailRate,
    compressionMessages: isQuick ? defaults.quick.compressionMessages : defaults.compressionMessages,
  };
}

export function resolvePlaces(flags: SnapshotFlags, { env, stderr }: Terminal): Places {
  const connect = flags.connect ?? envValue("CONNECT_URL", env, parseRegistryUrl);
  const given = resolveCluster(flags, env);
  const isLocal = flags.stack !== undefined || (connect === undefined && given.connection === undefined);
  const stack = isLocal ? readStackState(flags.stack) : null;
  if (stack !== null && flags.stack === undefined) {
    stderr.write(`using the stack of .stack: Kafka at ${stack.brokers}, Connect at ${stack.connectUrl}\n`);
  }
  const registry = given.registry ?? (stack === null ? undefined : { url: stack.registryUrl });
  return {
    connection: given.connection ?? (stack === null ? undefined : { brokers: [stack.brokers] }),
    registry,
    converterRegistry: flags.converterRegistry ?? envValue("CONVERTER_REGISTRY_URL", env, parseRegistryUrl) ?? stack?.converterUrl,
    connectUrl: connect ?? stack?.connectUrl,
    databaseUrl: flags.database ?? envValue("DATABASE_URL", env, String) ?? stack?.databaseUrl,
  };
}

export function formatsOf(names: readonly string[] | undefined): readonly SnapshotFormat[] | null {
  const stray = names?.find((name) => !snapshotFormats.some((format) => format === name));
  if (stray !== undefined) {
    throw new BenchError("usage", `there is no format ${stray}; there are ${snapshotFormats.join(", ")}.`);
  }
  return (names as readonly SnapshotFormat[] | undefined) ?? null;
}

export function templateFrom(flags: SnapshotFlags, databaseUrl: string | undefined, env: Terminal["env"]): ConnectorConfig {
  if (flags.connector !== undefined) {
    return readTemplate(flags.connector, env);
  }
  if (databaseUrl === undefined) {
    throw new BenchError(
      "usage",
      "whose table? Give --database postgres://USER@HOST/NAME, --connector FILE with a connector of yours, or both.",
    );
  }
  return templateOf(databaseUrl, env);
}

export function tableOf(
  flags: SnapshotFlags,
  databaseUrl: string | undefined,
  template: ConnectorConfig,
): { readonly table: string; readonly madeTable: OrderTable | null } {
  const named = flags.table ?? (flags.rows === undefined ? template["table.include.list"] : undefined);
  if (flags.table !== undefined && flags.rows !== undefined) {
    throw new BenchError(
      "usage",
      "--table and --rows exclude each other: a table that exists has its rows. create-table --rows makes one that stays.",
    );
  }
  if (databaseUrl === undefined) {
    if (named === undefined || named.includes(",") || !named.includes(".")) {
      throw new BenchError("usage", "which table? Give --table SCHEMA.NAME, or --database, in which one is made.");
    }
    return { table: named, madeTable: null };
  }
  const kind = databaseKindOf(databaseUrl);
  if (named !== undefined) {
    return { table: qualifiedPath(databaseUrl, kind, named), madeTable: null };
  }
  const rows = flags.rows ?? (flags.quick === true ? defaults.quick.rows : defaults.defaultRows);
  const path = qualifiedPath(databaseUrl, kind, `cdc_bench_${process.pid}_${Math.random().toString(36).slice(2, 8)}`);
  return { table: path, madeTable: { path, rows, seed: flags.seed } };
}
