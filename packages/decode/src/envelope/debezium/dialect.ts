import type { CdcEvent, TableName } from "../../event.ts";
import type { Origin } from "../origin.ts";
import { openCassandraChange } from "./cassandra.ts";
import type { Change } from "./change.ts";
import { openMongodbChange } from "./mongodb.ts";
import { openTidbChange } from "./tidb.ts";
import { openYugabytedbChange } from "./yugabytedb.ts";

/** How a connector that writes changes in its own way is read; null where the operation is none that it has. */
export type Dialect = (op: string, change: Change, table: TableName, origin: Origin) => readonly CdcEvent[] | null;

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ["mongodb", openMongodbChange],
  ["cassandra", openCassandraChange],
  ["yugabytedb", openYugabytedbChange],
  ["TiCDC", openTidbChange],
]);

/** The connector's dialect, or null where it writes as Debezium's relational connectors do. */
export function dialectOf(connector: string | null | undefined): Dialect | null {
  return (typeof connector === "string" ? dialects.get(connector) : undefined) ?? null;
}
