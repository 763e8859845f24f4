import type { RecordHeaders } from "./record.ts";
import type { SchemaId } from "./schema-source.ts";

/** A name that a user's own format may have. */
type OwnName = string & {};

/** How a message names its schema. */
export type FramingName =
  | "none"
  | "confluent"
  | "confluent-guid"
  | "apicurio"
  | "glue"
  | "azure"
  | "single-object"
  | "ocf"
  | "ticdc"
  | OwnName;
/** How the bytes are written. */
export type EncodingName =
  | "connect-json"
  | "json"
  | "json-schema"
  | "avro"
  | "avro-json"
  | "protobuf"
  | "canal-protobuf"
  | "msgpack"
  | "cbor"
  | "int16"
  | "int32"
  | "int64"
  | "float32"
  | "float64"
  | "uuid"
  | "text"
  | "bytes"
  | OwnName;
/** Which CDC system wrote it. */
export type EnvelopeName =
  | "debezium"
  | "flattened"
  | "outbox"
  | "cloudevents"
  | "maxwell"
  | "canal"
  | "ticdc-canal-json"
  | "ticdc-open"
  | "ticdc-simple"
  | "ticdc-avro"
  | "goldengate"
  | "dms"
  | "wal2json"
  | "deltaforge"
  | "mongodb"
  | "cockroachdb"
  | "oracle-cdc"
  | "qlik"
  | "none"
  | OwnName;

/** A row: column name to value. The value table says what each column type becomes. */
export type Columns = Record<string, unknown>;

/** Which table a row belongs to, in the source's own words. */
export interface TableName {
  readonly database?: string;
  readonly schema?: string;
  readonly name: string;
}

export type Operation = "create" | "update" | "delete" | "read";

/** Where a change stands in its source. Everything that is one connector's own is under `position`. */
export interface Source {
  readonly connector: string | null;
  /** The connector's logical name (topic prefix). */
  readonly name: string | null;
  readonly version: string | null;
  /** Debezium's snapshot marker (`"true"`, `"first"`, `"last"`, `"incremental"`, ...), or false while streaming. */
  readonly snapshot: string | false;
  /** When the source committed the change, in milliseconds, microseconds and nanoseconds since the epoch, as far as stated. */
  readonly tsMs: number | null;
  readonly tsUs: number | null;
  readonly tsNs: bigint | null;
  /** lsn, txId, gtid, file, pos, commit_lsn, scn, ...: the connector's fields by their own names. */
  readonly position: Readonly<Record<string, unknown>>;
  /** The block as it was sent. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface TransactionPosition {
  readonly id: string;
  readonly totalOrder: bigint;
  readonly dataCollectionOrder: bigint;
}

/** The Kafka record that an event came from. */
export interface RecordRef {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  /** Milliseconds since the epoch. */
  readonly timestamp: bigint;
  readonly headers: RecordHeaders;
  /** The key's bytes as they came, in place. */
  readonly key: Uint8Array | null;
  /** The value's bytes as they came, in place. */
  readonly value: Uint8Array | null;
}

export interface ToObjectOptions {
  /**
   * What stands in the place of each UNAVAILABLE.
   * @default UNAVAILABLE itself
   */
  readonly unavailable?: unknown;
}

/** What every event has. Fields may be computed on first access; `toObject()` computes them all. */
export interface EventBase<Key = unknown> {
  readonly key: Key | null;
  readonly framing: FramingName;
  readonly encoding: EncodingName;
  readonly envelope: EnvelopeName;
  /** Of the value; null where it names none, or there is no value. */
  readonly schemaId: SchemaId | null;
  readonly record: RecordRef;
  /** Members of the message that its envelope does not have, as somebody on the way may have added them; null where there are none. */
  readonly extra: Columns | null;
  /**
   * A plain object with every field of the event. It can be cloned and posted (`structuredClone`) where `unavailable` says what stands for
   * a column that is UNAVAILABLE, which is a symbol; the event itself cannot. A part that cannot be read shows why: `{ error }`.
   */
  toObject(options?: ToObjectOptions): Record<string, unknown>;
  /**
   * Copies what the event still borrows from its fetched batch, so that keeping the event does not keep the batch. Returns the event.
   */
  detach(): this;
}

export interface ChangeEvent<Row = Columns, Key = Columns> extends EventBase<Key> {
  readonly kind: "change";
  readonly op: Operation;
  readonly table: TableName;
  readonly before: Row | null;
  readonly after: Row | null;
  readonly source: Source;
  readonly transaction: TransactionPosition | null;
  /** When the connector processed the change, in milliseconds since the epoch. */
  readonly tsMs: number | null;
  /** For the two halves of a primary-key change: the other key (`__debezium.newkey` on the delete, `__debezium.oldkey` on the create). */
  readonly keyChange: KeyChange<Key> | null;
  /** What a document database says that an update changed, where it does: the document itself may be absent. */
  readonly updateDescription: UpdateDescription | null;
  /** The row after this change, with each UNAVAILABLE column taken from `previous`; null after a delete. */
  applyTo(previous: Partial<Row> | null): Row | null;
}

/** A MongoDB update, field by field. Names are paths with dots where a field is inside of another. */
export interface UpdateDescription {
  readonly updatedFields: Columns | null;
  readonly removedFields: readonly string[];
  readonly truncatedArrays: readonly { readonly field: string; readonly size: number }[];
}

/** `key` is text, or bytes that are no text, where the header's converter did not write JSON (Connect's own writes `Struct{id=1}`). */
export type KeyChange<Key = Columns> =
  | { readonly kind: "moved-to"; readonly key: Key | string | Buffer }
  | { readonly kind: "moved-from"; readonly key: Key | string | Buffer };

export interface RowEvent<Row = Columns, Key = unknown> extends EventBase<Key> {
  readonly kind: "row";
  readonly row: Row;
  readonly table: TableName | null;
}

export interface TombstoneEvent<Key = unknown> extends EventBase<Key> {
  readonly kind: "tombstone";
  readonly table: TableName | null;
}

export interface TruncateEvent extends EventBase {
  readonly kind: "truncate";
  readonly table: TableName;
  readonly source: Source;
  readonly transaction: TransactionPosition | null;
  readonly tsMs: number | null;
}

export interface MessageEvent extends EventBase {
  readonly kind: "message";
  readonly prefix: string;
  /**
   * Bytes where the message says that they are (Avro's and Connect's bytes), or `topics[topic].binaryHandling` says how they are written; else
   * the text as it stands: in JSON without a schema nothing tells base64 from hex, nor either from text.
   */
  readonly content: Buffer | string;
  readonly source: Source;
  readonly transaction: TransactionPosition | null;
  readonly tsMs: number | null;
}

export interface TransactionEvent extends EventBase {
  readonly kind: "transaction";
  readonly status: "begin" | "end";
  readonly id: string;
  readonly eventCount: number | bigint | null;
  readonly dataCollections: readonly { readonly dataCollection: string; readonly eventCount: number | bigint }[] | null;
  readonly tsMs: number | null;
}

export interface HeartbeatEvent extends EventBase {
  readonly kind: "heartbeat";
  readonly tsMs: number | null;
}

export interface SchemaChangeEvent extends EventBase {
  readonly kind: "schema-change";
  readonly ddl: string | null;
  readonly database: string | null;
  readonly schema: string | null;
  /** Debezium's `tableChanges`, as they were sent. */
  readonly tables: readonly Readonly<Record<string, unknown>>[];
  readonly source: Source;
  readonly tsMs: number | null;
}

export interface NotificationEvent extends EventBase {
  readonly kind: "notification";
  readonly id: string;
  readonly type: string;
  readonly aggregateType: string;
  readonly additionalData: Readonly<Record<string, unknown>>;
  readonly tsMs: number | null;
}

export interface WatermarkEvent extends EventBase {
  readonly kind: "watermark";
  readonly watermark: bigint | string | null;
  readonly tsMs: number | null;
}

/** Decodable, but no envelope or operation that we know. */
export interface UnknownEvent extends EventBase {
  readonly kind: "unknown";
  readonly value: unknown;
}

export type CdcEvent<Row = Columns, Key = Columns> =
  | ChangeEvent<Row, Key>
  | RowEvent<Row>
  | TombstoneEvent
  | TruncateEvent
  | MessageEvent
  | TransactionEvent
  | HeartbeatEvent
  | SchemaChangeEvent
  | NotificationEvent
  | WatermarkEvent
  | UnknownEvent;
