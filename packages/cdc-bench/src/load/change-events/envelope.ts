import type { SalesOrderRow } from "./sales-order-row.ts";

/** Debezium's envelope of PostgreSQL, field by field in its order. Nanoseconds do not fit into a number. */
export interface Envelope {
  readonly before: SalesOrderRow | null;
  readonly after: SalesOrderRow | null;
  readonly source: EnvelopeSource;
  readonly transaction: EnvelopeTransaction | null;
  readonly op: EnvelopeOp;
  readonly ts_ms: number | null;
  readonly ts_us: number | null;
  readonly ts_ns: bigint | null;
}

/** Create, update, delete, read (by a snapshot). */
export type EnvelopeOp = "c" | "u" | "d" | "r";

export interface EnvelopeSource {
  readonly version: string;
  readonly connector: string;
  /** `topic.prefix` of the connector. */
  readonly name: string;
  readonly ts_ms: number;
  readonly snapshot: string | null;
  readonly db: string;
  readonly sequence: string | null;
  readonly ts_us: number | null;
  readonly ts_ns: bigint | null;
  readonly schema: string;
  readonly table: string;
  readonly txId: number | null;
  readonly lsn: number | null;
  readonly xmin: number | null;
  readonly origin: string | null;
  readonly origin_lsn: number | null;
}

export interface EnvelopeTransaction {
  readonly id: string;
  readonly total_order: number;
  readonly data_collection_order: number;
}

/** The key of the published table. */
export interface EnvelopeKey {
  readonly id: number;
}
