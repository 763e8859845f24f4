import type {
  Columns,
  HeartbeatEvent,
  MessageEvent,
  NotificationEvent,
  RowEvent,
  SchemaChangeEvent,
  Source,
  TableName,
  TombstoneEvent,
  TransactionEvent,
  TransactionPosition,
  TruncateEvent,
  UnknownEvent,
  WatermarkEvent,
} from "../event.ts";
import { withoutWrappers } from "./cells.ts";
import type { Origin } from "./origin.ts";
import { tableOfHeaders } from "./header-values.ts";
import { detachBlock, shownSource, sourceBlock } from "./late-block.ts";
import { RecordEvent } from "./record-event.ts";
import { withColumns } from "./row-columns.ts";
import { isBlock, numberOrNull, scalarText, textOrNull, transactionOf, withUnread } from "./source.ts";

type Block = Readonly<Record<string, unknown>>;

/** A row without an envelope. */
export class PlainRow extends RecordEvent implements RowEvent {
  row: Columns;
  readonly table: TableName | null;
  readonly key: unknown;
  readonly #origin: Origin;

  constructor(row: Columns, origin: Origin, table: TableName | null = origin.scope.topicTable) {
    super();
    this.row = row;
    this.table = table;
    this.key = origin.key;
    this.#origin = origin;
  }

  get kind(): "row" {
    return "row";
  }

  protected get origin(): Origin {
    return this.#origin;
  }

  /** Another object with the same fields. */
  copy(): PlainRow {
    return new PlainRow(this.row, this.#origin, this.table);
  }

  /** Drops all other columns of the row. */
  keepColumns(columns: ReadonlySet<string>): void {
    this.row = withColumns(this.row, columns);
  }

  protected fields(): Record<string, unknown> {
    return { table: this.table, key: this.key, row: this.row };
  }
}

/** An event that is neither a row nor a change. These are so rare that the cost of fields in a base class does not matter. */
abstract class ControlEvent extends RecordEvent {
  readonly key: unknown;
  readonly #origin: Origin;

  constructor(origin: Origin) {
    super();
    this.key = origin.key;
    this.#origin = origin;
  }

  protected get origin(): Origin {
    return this.#origin;
  }
}

/**
 * A null value. Headers may name the table and say that a row was deleted (`__op`), but the event is still a tombstone. Its key has no
 * wrappers around its columns, like that of the delete before it.
 */
export class Tombstone extends ControlEvent implements TombstoneEvent {
  constructor(origin: Origin) {
    const key = withoutWrappers(origin.key);
    super(key === origin.key ? origin : origin.withKey(key));
  }

  get kind(): "tombstone" {
    return "tombstone";
  }

  get table(): TableName | null {
    return tableOfHeaders(this.headers, this.scope);
  }

  /** Another object with the same fields. */
  copy(): Tombstone {
    return new Tombstone(this.origin);
  }

  protected fields(): Record<string, unknown> {
    return { table: this.table, key: this.key };
  }
}

/** A value that could be decoded, and that no envelope knows. */
export class UnknownValue extends ControlEvent implements UnknownEvent {
  readonly value: unknown;

  constructor(value: unknown, origin: Origin) {
    super(origin);
    this.value = value;
  }

  get kind(): "unknown" {
    return "unknown";
  }

  protected fields(): Record<string, unknown> {
    return { key: this.key, value: this.value };
  }
}

/** The parts that a Debezium record without a row has in common with a change: a source, a transaction, a time. */
abstract class SourcedEvent extends ControlEvent {
  protected readonly value: Block;
  #source: Source | null = null;

  constructor(value: Block, origin: Origin) {
    super(origin);
    this.value = value;
  }

  get source(): Source {
    this.#source ??= sourceBlock(this.value["source"], this.origin);
    return this.#source;
  }

  get transaction(): TransactionPosition | null {
    return transactionOf(this.value["transaction"]);
  }

  get tsMs(): number | null {
    return numberOrNull(this.value["ts_ms"]);
  }

  override get extra(): Columns | null {
    return withUnread(super.extra, this.value, this.transaction, this.tsMs);
  }

  protected override detachParts(): void {
    detachBlock(this.value["source"]);
  }
}

export class Truncate extends SourcedEvent implements TruncateEvent {
  readonly table: TableName;

  constructor(table: TableName, value: Block, origin: Origin) {
    super(value, origin);
    this.table = table;
  }

  get kind(): "truncate" {
    return "truncate";
  }

  protected fields(): Record<string, unknown> {
    const { table, key, transaction, tsMs } = this;
    return { table, key, source: shownSource(this), transaction, tsMs };
  }
}

export class LogicalMessage extends SourcedEvent implements MessageEvent {
  get kind(): "message" {
    return "message";
  }

  get prefix(): string {
    return textOrNull(this.#message["prefix"]) ?? "";
  }

  get content(): Buffer | string {
    const content = this.#message["content"];
    return typeof content === "string" || Buffer.isBuffer(content) ? content : Buffer.alloc(0);
  }

  get #message(): Block {
    const message = this.value["message"];
    return isBlock(message) ? message : {};
  }

  protected fields(): Record<string, unknown> {
    const { key, prefix, content, transaction, tsMs } = this;
    return { key, prefix, content, source: shownSource(this), transaction, tsMs };
  }
}

export class TransactionBoundary extends SourcedEvent implements TransactionEvent {
  readonly status: "begin" | "end";

  constructor(status: "begin" | "end", value: Block, origin: Origin) {
    super(value, origin);
    this.status = status;
  }

  get kind(): "transaction" {
    return "transaction";
  }

  get id(): string {
    return scalarText(this.value["id"]) ?? "";
  }

  get eventCount(): number | bigint | null {
    return countOrNull(this.value["event_count"]);
  }

  get dataCollections(): TransactionEvent["dataCollections"] {
    const collections = this.value["data_collections"];
    return Array.isArray(collections)
      ? collections.filter(isBlock).map((one) => ({
          dataCollection: textOrNull(one["data_collection"]) ?? "",
          eventCount: countOrNull(one["event_count"]) ?? 0,
        }))
      : null;
  }

  protected fields(): Record<string, unknown> {
    const { status, id, key, eventCount, dataCollections, tsMs } = this;
    return { status, id, key, eventCount, dataCollections, tsMs };
  }
}

function countOrNull(value: unknown): number | bigint | null {
  return typeof value === "bigint" ? value : numberOrNull(value);
}

export class Heartbeat extends SourcedEvent implements HeartbeatEvent {
  get kind(): "heartbeat" {
    return "heartbeat";
  }

  protected fields(): Record<string, unknown> {
    return { key: this.key, tsMs: this.tsMs };
  }
}

export class SchemaChange extends SourcedEvent implements SchemaChangeEvent {
  get kind(): "schema-change" {
    return "schema-change";
  }

  get ddl(): string | null {
    return textOrNull(this.value["ddl"]);
  }

  get database(): string | null {
    return textOrNull(this.value["databaseName"]);
  }

  get schema(): string | null {
    return textOrNull(this.value["schemaName"]);
  }

  get tables(): readonly Block[] {
    const changes = this.value["tableChanges"];
    return Array.isArray(changes) ? changes.filter(isBlock) : [];
  }

  protected fields(): Record<string, unknown> {
    const { ddl, database, schema, tables, key, tsMs } = this;
    return { ddl, database, schema, tables, key, source: shownSource(this), tsMs };
  }
}

/** All changes up to this time have been sent. */
export class Watermark extends ControlEvent implements WatermarkEvent {
  readonly watermark: bigint | string | null;
  readonly tsMs: number | null;

  constructor(watermark: bigint | string | null, tsMs: number | null, origin: Origin) {
    super(origin);
    this.watermark = watermark;
    this.tsMs = tsMs;
  }

  get kind(): "watermark" {
    return "watermark";
  }

  protected fields(): Record<string, unknown> {
    return { watermark: this.watermark, tsMs: this.tsMs, key: this.key };
  }
}

/** A notification from Debezium, for example about the progress of a snapshot. */
export class Notification extends ControlEvent implements NotificationEvent {
  readonly #value: Block;

  constructor(value: Block, origin: Origin) {
    super(origin);
    this.#value = value;
  }

  get kind(): "notification" {
    return "notification";
  }

  get id(): string {
    return textOrNull(this.#value["id"]) ?? "";
  }

  get type(): string {
    return textOrNull(this.#value["type"]) ?? "";
  }

  get aggregateType(): string {
    return textOrNull(this.#value["aggregate_type"]) ?? "";
  }

  get additionalData(): Block {
    const data = this.#value["additional_data"];
    return isBlock(data) ? data : {};
  }

  get tsMs(): number | null {
    return numberOrNull(this.#value["timestamp"]);
  }

  protected fields(): Record<string, unknown> {
    const { id, type, aggregateType, additionalData, key, tsMs } = this;
    return { id, type, aggregateType, additionalData, key, tsMs };
  }
}
