import type { Source } from "../event.ts";
import { asInteger, asLogSequence, asSame, asText, type ComparePart } from "./compare-part.ts";
import { asGtidSet } from "./gtid-set.ts";

/** The facts about a change that its position is made from. */
export interface PlacedChange {
  readonly source: Source;
  /** The connector's own fields. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly totalOrder: string | null;
  readonly half: string;
}

export interface Place {
  readonly stream: readonly string[];
  readonly parts: readonly (string | null)[];
}

/** One order of a database's changes. `compare` has one more entry than places have parts. This entry is for the halves of a key change. */
export interface Order {
  readonly connector: string;
  readonly name: string;
  readonly compare: readonly ComparePart[];
  /** The change's place in this order, or null if its source does not state it. */
  placeOf(change: PlacedChange): Place | null;
}

/** The orders of a connector's database. The one that compares the most positions comes first. */
export function ordersOf(connector: string | null): readonly Order[] {
  return (connector === null ? undefined : orders.get(connector)) ?? [];
}

export function orderNamed(connector: string, name: string): Order | null {
  return ordersOf(connector).find((order) => order.connector === connector && order.name === name) ?? null;
}

function order(connector: string, name: string, compare: readonly ComparePart[], placeOf: Order["placeOf"]): Order {
  return { connector, name, compare: [...compare, asInteger], placeOf };
}

/**
 * PostgreSQL sends transactions in the order of their commits, so LSNs go back if transactions overlap. Debezium's `sequence` has the last
 * commit before the change, which never goes back.
 */
const postgresqlByCommit = order("postgresql", "commit", [asInteger, asInteger, asInteger], ({ fields, totalOrder }) => {
  const [, lastCommit, lsn] = /^\[\s*"(\d{1,20})"\s*,\s*"(\d{1,20})"\s*\]$/.exec(text(fields["sequence"]) ?? "") ?? [];
  return lastCommit === undefined || lsn === undefined ? null : { stream: [], parts: [lastCommit, lsn, totalOrder] };
});

/** Without `sequence`, LSNs order only the changes of one transaction. */
const postgresqlByTransaction = order("postgresql", "transaction", [asSame, asInteger, asInteger], ({ fields, totalOrder }) => {
  const [txId, lsn] = [integer(fields["txId"]), lsnOf(fields["lsn"])];
  return txId === null || lsn === null ? null : { stream: [], parts: [txId, lsn, totalOrder] };
});

/** An LSN, from a number or from PostgreSQL's text. */
function lsnOf(value: unknown): string | null {
  const [, high, low] = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text(value) ?? "") ?? [];
  return high === undefined ? integer(value) : String((BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`));
}

/**
 * Orders changes by GTID. A server numbers its transactions, a transaction is in one file, and the rows of one event have the same position
 * in it.
 */
function byGtid(connector: string): Order {
  return order(connector, "gtid", [asInteger, asSame, asSame, asInteger, asInteger], ({ fields, totalOrder }) => {
    const gtid = text(fields["gtid"]) ?? "";
    const [, server, number] = /^([0-9A-Fa-f-]{36}(?::[A-Za-z_]\w{0,31})?):(\d{1,20})$/.exec(gtid) ?? [];
    const [, domain, sequence] = /^(\d{1,10})-\d{1,10}-(\d{1,20})$/.exec(gtid) ?? [];
    const [stream, transaction] = [server?.toLowerCase() ?? domain, number ?? sequence];
    const row = integer(fields["row"]) ?? totalOrder;
    return stream === undefined || transaction === undefined || row === null
      ? null
      : { stream: [stream], parts: [transaction, text(fields["server_id"]), text(fields["file"]), integer(fields["pos"]), row] };
  });
}

function byFile(connector: string): Order {
  return order(connector, "file", [asInteger, asInteger, asInteger], ({ fields, totalOrder }) => {
    const [, base, number] = /^(.{1,512})\.(\d{1,20})$/.exec(text(fields["file"]) ?? "") ?? [];
    const [pos, row] = [integer(fields["pos"]), integer(fields["row"]) ?? totalOrder];
    const isNumbered = text(fields["gtid"]) !== null;
    return base === undefined || number === undefined || pos === null || row === null || isNumbered
      ? null
      : { stream: [text(fields["server_id"]) ?? "", base], parts: [number, pos, row] };
  });
}

const sqlserver = order("sqlserver", "lsn", [asLogSequence, asLogSequence, asInteger], ({ fields }) =>
  lsnPlace(fields, [text(fields["commit_lsn"]), text(fields["change_lsn"]), integer(fields["event_serial_no"])]),
);

const db2 = order("db2", "lsn", [asLogSequence, asLogSequence], ({ fields }) =>
  lsnPlace(fields, [text(fields["commit_lsn"]), text(fields["change_lsn"])]),
);

const informix = order("informix", "lsn", [asInteger, asInteger], ({ fields }) =>
  lsnPlace(fields, [integer(fields["commit_lsn"]), integer(fields["change_lsn"])]),
);

function lsnPlace(fields: PlacedChange["fields"], parts: Place["parts"]): Place | null {
  return text(fields["commit_lsn"]) === null ? null : { stream: [], parts };
}

const oracleByLcr = order("oracle", "lcr", [asText], ({ fields }) => {
  const position = text(fields["lcr_position"]);
  return position === null ? null : { stream: [], parts: [position] };
});

/** Two transactions may commit at the same SCN. In that case it is not known which came first. */
const oracleByScn = order(
  "oracle",
  "scn",
  [asInteger, asSame, asInteger, asInteger, asText, asInteger],
  ({ fields: { commit_scn, txId, txSeq, scn, rs_id, ssn } }) => {
    const commit = integer(commit_scn);
    return commit === null ? null : { stream: [], parts: [commit, text(txId), integer(txSeq), integer(scn), text(rs_id), integer(ssn)] };
  },
);

/** All changes of a transaction have the same time. Only `total_order` tells them apart. */
const mongodb = order("mongodb", "time", [asInteger, asInteger, asSame, asInteger], ({ source, fields, totalOrder }) => {
  const ord = integer(fields["ord"]);
  return source.tsMs === null || ord === null
    ? null
    : { stream: [text(fields["rs"]) ?? ""], parts: [String(source.tsMs), ord, text(fields["txnNumber"]), totalOrder] };
});

const vitess = order("vitess", "vgtid", [asGtidSet, asInteger], ({ fields, source, totalOrder }) => {
  const shard = text(fields["shard"]);
  const keyspace = text(source.raw["keyspace"]);
  const gtid = shard === null ? null : shardGtid(text(fields["vgtid"]), keyspace, shard);
  return gtid === null || shard === null ? null : { stream: [keyspace ?? "", shard], parts: [gtid, totalOrder] };
});

/** The position in the change's own shard. */
function shardGtid(vgtid: string | null, keyspace: string | null, shard: string): string | null {
  try {
    const shards: unknown = JSON.parse(vgtid ?? "");
    const found: unknown = Array.isArray(shards)
      ? shards.find((one: { keyspace?: unknown; shard?: unknown } | null) => one?.shard === shard && one.keyspace === keyspace)
      : null;
    return text((found as { gtid?: unknown } | null | undefined)?.gtid);
  } catch {
    return null; // not JSON, so it states no position
  }
}

const cassandra = order("cassandra", "write-time", [asInteger], ({ source: { tsUs } }) =>
  tsUs === null ? null : { stream: [], parts: [String(tsUs)] },
);

const spanner = order("spanner", "time", [asInteger, asSame, asInteger, asInteger], ({ source, fields }) => {
  const transaction = text(fields["server_transaction_id"]);
  const time = source.tsNs ?? (source.tsMs === null ? null : BigInt(source.tsMs) * 1_000_000n);
  return time === null || transaction === null
    ? null
    : { stream: [], parts: [String(time), transaction, integer(fields["sequence"]), integer(fields["mod_number"])] };
});

const tidb = order("tidb", "commit", [asInteger], ({ fields }) => {
  const commit = integer(fields["commit_ts"]);
  return commit === null ? null : { stream: [], parts: [commit] };
});

const cockroachdb = order("cockroachdb", "time", [asInteger, asInteger], ({ fields: { ts_hlc, updated, mvcc_timestamp } }) => {
  const time = text(ts_hlc) ?? text(updated) ?? text(mvcc_timestamp) ?? "";
  const [, wall, logical] = /^(\d{1,19})\.(\d{10})$/.exec(time) ?? [];
  return wall === undefined || logical === undefined ? null : { stream: [], parts: [wall, logical] };
});

const orders: ReadonlyMap<string, readonly Order[]> = new Map([
  ["postgresql", [postgresqlByCommit, postgresqlByTransaction]],
  ["mysql", [byGtid("mysql"), byFile("mysql")]],
  ["mariadb", [byGtid("mariadb"), byFile("mariadb")]],
  ["sqlserver", [sqlserver]],
  ["db2", [db2]],
  ["informix", [informix]],
  ["oracle", [oracleByLcr, oracleByScn]],
  ["mongodb", [mongodb]],
  ["vitess", [vitess]],
  ["cassandra", [cassandra]],
  ["spanner", [spanner]],
  ["tidb", [tidb]],
  ["TiCDC", [tidb]],
  ["cockroachdb", [cockroachdb]],
]);

/** Longer text is not a position. */
const maxChars = 65_536;

function text(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "bigint") {
    return String(value);
  }
  return typeof value === "string" && value !== "" && value.length <= maxChars ? value : null;
}

/** An integer in any form that the int64 option gives. */
function integer(value: unknown): string | null {
  const found = text(value);
  return found !== null && /^-?\d{1,30}$/.test(found) ? found : null;
}
