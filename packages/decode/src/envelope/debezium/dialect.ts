import type { CdcEvent, TableName } from "../../event.ts";
import type { Origin } from "../origin.ts";
import { openCassandraChange } from "./cassandra.ts";
import type { Change } from "./change.ts";
import { openMongodbChange } from "./mongodb.ts";
import { openTidbChange } from "./tidb.ts";
import { openYugabytedbChange } from "./yugabytedb.ts";

/** Reads the changes of a connector that deviates from Debezium's relational connectors. Null if the connector has no such operation. */
export type Dialect = (op: string, change: Change, table: TableName, origin: Origin) => readonly CdcEvent[] | null;

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ["mongodb", openMongodbChange],
  ["cassandra", openCassandraChange],
  ["yugabytedb", openYugabytedbChange],
  ["TiCDC", openTidbChange],
]);

/**
 * The connector's dialect, or null if it writes changes in the form of Debezium's relational connectors. Undefined if forks of it have its
 * name: each record says by its version which of them wrote it.
 */
export function dialectOf(connector: string | null | undefined): Dialect | null | undefined {
  if (connector === "postgresql") {
    return undefined;
  }
  return (typeof connector === "string" ? dialects.get(connector) : undefined) ?? null;
}

/**
 * The dialect of a version of PostgreSQL's connector. YugabyteDB's connector for logical replication is a fork of it that keeps its name. It
 * calls its versions `dz.2.5.2.yb.2024.1`.
 */
export function dialectOfVersion(version: unknown): Dialect | null {
  return typeof version === "string" && version.includes(".yb.") ? openYugabytedbChange : null;
}
