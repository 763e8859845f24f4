import type { CdcEvent } from "../event.ts";
import { orderNamed, ordersOf } from "./orders.ts";

/**
 * Where a change stands in its source: a plain object of text, so that it can be stored beside what the change did. An event that is not
 * after the last one that was handled has come before.
 */
export interface SourcePosition {
  /** The database whose order it is. */
  readonly connector: string;
  /** Which of its orders: MySQL has one by transactions and one by files. */
  readonly order: string;
  /** Only positions of one stream are comparable: the connector's logical name, and the server or shard where each has an order of its own. */
  readonly stream: string;
  /** Most significant first; null where the source did not say. */
  readonly parts: readonly (string | null)[];
}

/**
 * The position of an event, or null where it has none: its source states no order, or it was read by a snapshot, whose rows all stand at
 * the same place. Compare those of one row: MongoDB, TiDB, CockroachDB and others give all rows that one transaction changes the same
 * position. PostgreSQL, MySQL, SQL Server and Oracle tell them apart, so that those of a whole table may be compared.
 */
export function positionOf(event: CdcEvent): SourcePosition | null {
  if (event.kind !== "change" && event.kind !== "truncate" && event.kind !== "message") {
    return null;
  }
  const { source, transaction } = event;
  if (source.snapshot !== false) {
    return null;
  }
  const change = {
    source,
    fields: source.position,
    totalOrder: transaction !== null && transaction.totalOrder > 0n ? String(transaction.totalOrder) : null,
    // The two halves of a change of the key are one change of the source: the row that goes comes first.
    half: event.kind === "change" && event.keyChange?.kind === "moved-from" ? "1" : "0",
  };
  for (const order of ordersOf(source.connector)) {
    const place = order.placeOf(change);
    if (place !== null) {
      const stream = [source.name ?? "", ...place.stream].join("/");
      return { connector: order.connector, order: order.name, stream, parts: [...place.parts, change.half] };
    }
  }
  return null;
}

/**
 * Negative where `a` comes before `b`, positive where it comes after, 0 where both are the same place; null where they are not comparable:
 * of different streams, or their source does not say which came first.
 */
export function comparePosition(a: SourcePosition, b: SourcePosition): number | null {
  const order = orderNamed(a.connector, a.order);
  if (order === null || a.connector !== b.connector || a.order !== b.order || a.stream !== b.stream) {
    return null;
  }
  for (const [i, compare] of order.compare.entries()) {
    const [left = null, right = null] = [a.parts[i], b.parts[i]];
    if (left === null && right === null) {
      continue;
    }
    const difference = left === null || right === null ? null : compare(left, right);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}
