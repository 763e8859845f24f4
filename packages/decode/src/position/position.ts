import type { CdcEvent, ChangeEvent, MessageEvent, TruncateEvent } from "../event.ts";
import { orderNamed, ordersOf } from "./orders.ts";

/**
 * Where a change stands in its source. It is a plain object of text, so that it can be stored together with the result of handling the
 * change. An event whose position is not after that of the last handled event was sent before.
 */
export interface SourcePosition {
  /** The connector of the database that has this order. */
  readonly connector: string;
  /** The name of the order. MySQL, for example, has one by transactions and one by files. */
  readonly order: string;
  /**
   * Only positions of one stream are comparable. A stream is the connector's logical name, and the server or shard if each has its own
   * order.
   */
  readonly stream: string;
  /** The parts of the position, the most significant first; null if the source did not state a part. */
  readonly parts: readonly (string | null)[];
}

/**
 * The position of an event. Null if its source states no order, or if a snapshot read the row: all rows of a snapshot have the same
 * position. Compare only positions of one row, because MongoDB, TiDB, CockroachDB and others give all rows of one transaction the same
 * position. PostgreSQL, MySQL, SQL Server and Oracle tell them apart, so for these, positions of a whole table may be compared.
 */
export function positionOf(event: CdcEvent): SourcePosition | null {
  if (event.kind !== "change" && event.kind !== "truncate" && event.kind !== "message") {
    return null;
  }
  const { source, transaction } = event;
  if (isOfSnapshot(event)) {
    return null;
  }
  const change = {
    source,
    fields: source.position,
    totalOrder: transaction !== null && transaction.totalOrder > 0n ? String(transaction.totalOrder) : null,
    // The two halves of a key change are one change of the source. The deleted row comes first.
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

/** Whether a snapshot read the row. A flattened row may say so by its operation alone. */
export function isOfSnapshot(event: ChangeEvent | TruncateEvent | MessageEvent): boolean {
  return event.source.snapshot !== false || (event.kind === "change" && event.op === "read");
}

/**
 * Negative if `a` comes before `b`, positive if it comes after, 0 if both are the same position. Null if they cannot be compared: they are
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
