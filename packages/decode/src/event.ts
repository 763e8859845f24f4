import type { RecordHeaders } from "./record.ts";
import type { SchemaId } from "./schema-source.ts";

/** Any other name: a user's own format. */
type OwnName = string & {};

/** How a message names its schema. `"none"` if it does not. */
export type FramingName =
  | "none"
  | "confluent"
  | "confluent-guid"
  | "apicurio"
  | "glue"
  | "azure"
  | "buf"
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
/** Which CDC system wrote the message. `"none"` if it has no envelope. */
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

/** A row: column name to value. docs/values.md has the value of each column type. */
export type Columns = Record<string, unknown>;

/** The table of a row, by the source's own names. */
export interface TableName {
  /** The database; absent if the message does not name it. */
  readonly database?: string;
  /** The schema; absent for databases without schemas. */
  readonly schema?: string;
  /** The table; for MongoDB the collection. */
  readonly name: string;
}

/** What happened to a row; `read` is a snapshot's. */
export type Operation = "create" | "update" | "delete" | "read";

/** Where a change stands in its source. Fields of a single connector are under `position`. */
export interface Source {
  /** The connector's kind (`"postgresql"`, `"mysql"`); null if the message does not say it. */
  readonly connector: string | null;
  /** The connector's logical name (its topic prefix). */
  readonly name: string | null;
  /** The connector's version; null if the message does not say it. */
  readonly version: string | null;
  /** Debezium's snapshot marker (`"true"`, `"first"`, `"last"`, `"incremental"`, ...). False for a change that was streamed. */
  readonly snapshot: string | false;
  /** The time at which the source committed the change, in milliseconds since the epoch; null if not stated. */
  readonly tsMs: number | null;
  /** The same in microseconds; null if not stated. */
  readonly tsUs: number | null;
  /** The same in nanoseconds; null if not stated. */
  readonly tsNs: bigint | null;
  /** The connector's own fields under their own names: `lsn`, `txId`, `gtid`, `file`, `pos`, `commit_lsn`, `scn`, ... */
  readonly position: Readonly<Record<string, unknown>>;
  /** The whole source block as it was sent. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** The place of an event in its transaction. */
export interface TransactionPosition {
  /** The transaction, by the source's own id. */
  readonly id: string;
  /** The place among all events of the transaction, counted from 1. */
  readonly totalOrder: bigint;
  /** The place among those of the same table, counted from 1. */
  readonly dataCollectionOrder: bigint;
}

/** The Kafka record that an event came from. */
export interface RecordRef {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The offset of the record in its partition. */
  readonly offset: bigint;
  /** Milliseconds since the epoch. */
  readonly timestamp: bigint;
  /** The headers in their order. A name may come several times, and a value may be null. */
  readonly headers: RecordHeaders;
  /** The key's bytes as they arrived, in the batch. */
  readonly key: Uint8Array | null;
  /** The value's bytes as they arrived, in the batch. */
  readonly value: Uint8Array | null;
}

/** How `toObject()` shows an event. */
export interface ToObjectOptions {
  /**
   * The value that replaces each UNAVAILABLE.
   * @default UNAVAILABLE itself
   */
  readonly unavailable?: unknown;
}

/** The members of every event. Fields may be computed on first access, and `toObject()` computes all that it shows. */
export interface EventBase<Key = unknown> {
  /** The decoded key: columns of the primary key by name, or whatever else the record has as its key; null if it has none. */
  readonly key: Key | null;
  /** How the value names its schema. */
  readonly framing: FramingName;
  /** How the bytes of the value are written. */
  readonly encoding: EncodingName;
  /** Which system wrote the value. */
  readonly envelope: EnvelopeName;
  /** The schema id of the value; null if the value names none, or if there is no value. */
  readonly schemaId: SchemaId | null;
  /** Where the event comes from: topic, partition, offset, timestamp, headers and bytes. */
  readonly record: RecordRef;
  /** Members of the message that its envelope does not know, such as those that a transformation has added; null if there are none. */
  readonly extra: Columns | null;
  /**
   * A plain object with the fields of the event. `extra`, `keyChange` and `updateDescription` are left out if they are null, because most
   * events have none of them; every other field is there, null or not. It can be cloned and posted (`structuredClone`) if `unavailable` gives a replacement for
   * UNAVAILABLE, which is a symbol. The event itself cannot be cloned. A part that cannot be read holds the reason: `{ error }`.
   */
  toObject(options?: ToObjectOptions): Record<string, unknown>;
  /**
   * Copies what the event still borrows from its fetched batch, so that keeping the event does not keep the batch in memory. Returns the
   * event itself.
   */
  detach(): this;
}

/** A row was created, updated, deleted, or read by a snapshot. */
export interface ChangeEvent<Row = Columns, Key = Columns> extends EventBase<Key> {
  readonly kind: "change";
  /** What happened. `read` is a row that a snapshot found. */
  readonly op: Operation;
  /** The table, by its source's own names. */
  readonly table: TableName;
  /**
   * The row before the change; null after a create, and if the source did not send it (PostgreSQL without REPLICA IDENTITY FULL). It may have
   * the columns of the key alone.
   */
  readonly before: Row | null;
  /** The row after the change; null after a delete. A column that the source did not send because it did not change is UNAVAILABLE. */
  readonly after: Row | null;
  /** Where the change stands in its source. */
  readonly source: Source;
  /** Its place in its transaction; null if the connector does not send it (`provide.transaction.metadata`). */
  readonly transaction: TransactionPosition | null;
  /** The time at which the connector processed the change, in milliseconds since the epoch. */
  readonly tsMs: number | null;
  /**
   * The other key, if this is one half of a primary-key change. From the headers `__debezium.newkey` (on the delete) and
   * `__debezium.oldkey` (on the create).
   */
  readonly keyChange: KeyChange<Key> | null;
  /** The parts of a document that an update changed, if the database states them. The document itself may be absent. */
  readonly updateDescription: UpdateDescription | null;
  /** The row after this change, with each UNAVAILABLE column taken from `previous`. Null after a delete. */
  applyTo(previous: Partial<Row> | null): Row | null;
}

/** A MongoDB update, field by field. A name is a path with dots if the field is inside of another. */
export interface UpdateDescription {
  /** The new values by field path; null if the source does not state them. */
  readonly updatedFields: Columns | null;
  /** The paths of fields that are gone. Empty if none is. */
  readonly removedFields: readonly string[];
  /** Arrays that lost their ends: the path, and how many elements are left. */
  readonly truncatedArrays: readonly { readonly field: string; readonly size: number }[];
}

/** `key` is text, or bytes that are not text, if the header's converter did not write JSON (Connect's own writes `Struct{id=1}`). */
export type KeyChange<Key = Columns> =
  | { readonly kind: "moved-to"; readonly key: Key | string | Buffer }
  | { readonly kind: "moved-from"; readonly key: Key | string | Buffer };

/** A row without an envelope: nothing says what happened to it. */
export interface RowEvent<Row = Columns, Key = unknown> extends EventBase<Key> {
  readonly kind: "row";
  /** The row by column name. */
  readonly row: Row;
  /** The table that the topic's name or a hint says; null if neither does. */
  readonly table: TableName | null;
}

/** The key was removed: the value is null, so that compaction may forget the key. */
export interface TombstoneEvent<Key = unknown> extends EventBase<Key> {
  readonly kind: "tombstone";
  /** The table that headers, the topic's name or a hint say; null if none does. */
  readonly table: TableName | null;
}

/** A table was emptied. */
export interface TruncateEvent extends EventBase {
  readonly kind: "truncate";
  /** The table, by its source's own names. */
  readonly table: TableName;
  /** Where it stands in its source. */
  readonly source: Source;
  /** Its place in its transaction; null if the connector does not send it. */
  readonly transaction: TransactionPosition | null;
  /** The time at which the connector processed it, in milliseconds since the epoch; null if it is not stated. */
  readonly tsMs: number | null;
}

/** A logical message that an application wrote into PostgreSQL's log. */
export interface MessageEvent extends EventBase {
  readonly kind: "message";
  /** The prefix that the application gave, which says what the content is for; empty if none is stated. */
  readonly prefix: string;
  /**
   * Bytes if the message says that they are (Avro's and Connect's bytes), or if `topics[topic].binaryHandling` states their form. Otherwise
   * the text as it is, because in JSON without a schema, base64, hex and plain text look the same.
   */
  readonly content: Buffer | string;
  /** Where the message stands in its source. */
  readonly source: Source;
  /** Its place in its transaction; null if the connector does not send it. */
  readonly transaction: TransactionPosition | null;
  /** The time at which the connector processed it, in milliseconds since the epoch; null if it is not stated. */
  readonly tsMs: number | null;
}

/** A transaction of the source began or ended. */
export interface TransactionEvent extends EventBase {
  readonly kind: "transaction";
  /** Whether the transaction began or ended. */
  readonly status: "begin" | "end";
  /** The transaction, as `transaction.id` of its events names it. */
  readonly id: string;
  /** How many events it has, over all tables; null at its beginning. */
  readonly eventCount: number | bigint | null;
  /** How many events each table has, by Debezium's names (`inventory.products`); null at its beginning. */
  readonly dataCollections: readonly { readonly dataCollection: string; readonly eventCount: number | bigint }[] | null;
  /** The time at which the connector saw it, in milliseconds since the epoch; null if it is not stated. */
  readonly tsMs: number | null;
}

/** The connector is alive, although there is nothing to report. */
export interface HeartbeatEvent extends EventBase {
  readonly kind: "heartbeat";
  /** The time at which the connector wrote it, in milliseconds since the epoch; null if it is not stated. */
  readonly tsMs: number | null;
}

/** Tables were created, altered or dropped. */
export interface SchemaChangeEvent extends EventBase {
  readonly kind: "schema-change";
  /** The statement; null if the source does not send it (SQL Server). */
  readonly ddl: string | null;
  /** The name of the database; null if it is not stated. */
  readonly database: string | null;
  /** The name of the schema; null for databases without schemas. */
  readonly schema: string | null;
  /** Debezium's `tableChanges`, as they were sent. */
  readonly tables: readonly Readonly<Record<string, unknown>>[];
  /** Where the statement stands in its source. */
  readonly source: Source;
  /** The time at which the connector processed it, in milliseconds since the epoch; null if it is not stated. */
  readonly tsMs: number | null;
}

/** What Debezium says of itself, such as the progress of a snapshot. */
export interface NotificationEvent extends EventBase {
  readonly kind: "notification";
  /** The id of the notification; about an incremental snapshot, the id of the signal that started it. */
  readonly id: string;
  /** What happened to the aggregate: `STARTED`, `IN_PROGRESS`, `COMPLETED`, ... */
  readonly type: string;
  /** What the notification is about: `Initial Snapshot`, `Incremental Snapshot`, ... */
  readonly aggregateType: string;
  /** More about it, by names that depend on the type: tables, progress. Empty if nothing was sent. */
  readonly additionalData: Readonly<Record<string, unknown>>;
  /** The time of the notification, in milliseconds since the epoch; null if it is not stated. */
  readonly tsMs: number | null;
}

/** Everything before a point of the source has arrived. */
export interface WatermarkEvent extends EventBase {
  readonly kind: "watermark";
  /** The point: TiDB's timestamp (TSO) as a bigint, CockroachDB's as text; null if it is not stated. */
  readonly watermark: bigint | string | null;
  /** The same point in milliseconds since the epoch; null if it cannot be computed. */
  readonly tsMs: number | null;
}

/** A value that was decoded, but whose envelope or operation is unknown. */
export interface UnknownEvent extends EventBase {
  readonly kind: "unknown";
  /** The whole value, as its encoding gives it. */
  readonly value: unknown;
}

/** What a record means. Tell the kinds apart by `kind`, with a `default` branch: a new kind is a minor release. */
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
