import { type PlainConstructor, plainConstructor } from "./plain-constructor.ts";
import type { ChangeEvent, Columns, KeyChange, Operation, Source, TableName, TransactionPosition, UpdateDescription } from "../event.ts";
import { applyTo } from "../values/unavailable.ts";
import type { Origin } from "./origin.ts";
import { keyChangeOf } from "./header-values.ts";
import { detachBlock, shownSource, sourceBlock } from "./late-block.ts";
import { RecordEvent } from "./record-event.ts";
import { withColumns } from "./row-columns.ts";
import { numberOrNull, transactionOf, withUnread } from "./source.ts";

/**
 * The fields of a change other than its images, under Debezium's names. An envelope of another system makes these blocks of its own fields.
 * Any other field is ignored, so that Debezium's whole value can be passed.
 */
export type SourceFields = Readonly<Record<string, unknown>> & {
  /**
   * Where the change comes from, read or deferred: `connector`, `name`, `version`, `db`, `schema`, `table`, `snapshot` (`"true"` for a row
   * that was read from the table) and `ts_ms`, which is when the source committed the change. Every other field is part of the position.
   */
  readonly source?: unknown;
  /** `id`, and `total_order` and `data_collection_order` if the system numbers its changes. */
  readonly transaction?: unknown;
  /** When the connector sent the message, in milliseconds. */
  readonly ts_ms?: unknown;
};

/** The same fields, for envelopes that make them for each record. No literal, for the reason that `plainConstructor` gives. */
export class DeclaredFields implements SourceFields {
  readonly [name: string]: unknown;
  readonly source: unknown;
  readonly transaction: unknown;
  readonly ts_ms: unknown;

  constructor(source: unknown, tsMs: unknown = null, transaction: unknown = null) {
    this.source = source;
    this.transaction = transaction;
    this.ts_ms = tsMs;
  }
}

/** The transaction of a change, and the change's number in it. */
export const TransactionBlock: PlainConstructor<[id: unknown, totalOrder: unknown]> = plainConstructor(function (id, totalOrder) {
  this["id"] = id;
  this["total_order"] = totalOrder;
});

/** A change from any envelope. The source block is kept as it was read, and is converted to the API's form on first access. */
export class EnvelopedChange extends RecordEvent implements ChangeEvent {
  readonly op: Operation;
  readonly table: TableName;
  readonly key: Columns | null;
  before: Columns | null;
  after: Columns | null;
  readonly #sourceFields: SourceFields;
  readonly #origin: Origin;
  #source: Source | null = null;

  constructor(op: Operation, table: TableName, before: Columns | null, after: Columns | null, sourceFields: SourceFields, origin: Origin) {
    super();
    this.op = op;
    this.table = table;
    this.key = origin.key as Columns | null; // the key that an envelope passes with the images of a row is a row's key
    this.before = before;
    this.after = after;
    this.#sourceFields = sourceFields;
    this.#origin = origin;
  }

  get kind(): "change" {
    return "change";
  }

  protected get origin(): Origin {
    return this.#origin;
  }

  get source(): Source {
    this.#source ??= sourceBlock(this.#sourceFields["source"], this.#origin);
    return this.#source;
  }

  get transaction(): TransactionPosition | null {
    return transactionOf(this.#sourceFields["transaction"]);
  }

  get tsMs(): number | null {
    return numberOrNull(this.#sourceFields["ts_ms"]);
  }

  override get extra(): Columns | null {
    return withUnread(super.extra, this.#sourceFields, this.transaction, this.tsMs);
  }

  get keyChange(): KeyChange | null {
    return keyChangeOf(this.headers, this.scope);
  }

  get updateDescription(): UpdateDescription | null {
    return null;
  }

  applyTo(previous: Partial<Columns> | null): Columns | null {
    return applyTo(this.after, previous);
  }

  /** Another object with the same fields. */
  copy(): EnvelopedChange {
    return new EnvelopedChange(this.op, this.table, this.before, this.after, this.#sourceFields, this.#origin);
  }

  protected get sourceFields(): SourceFields {
    return this.#sourceFields;
  }

  /** Drops all other columns of the images. */
  keepColumns(columns: ReadonlySet<string>): void {
    this.before = this.before === null ? null : withColumns(this.before, columns);
    this.after = this.after === null ? null : withColumns(this.after, columns);
  }

  protected fields(): Record<string, unknown> {
    const { op, table, key, before, after, transaction, tsMs, keyChange, updateDescription } = this;
    const source = shownSource(this);
    const seldom = { ...(keyChange === null ? {} : { keyChange }), ...(updateDescription === null ? {} : { updateDescription }) };
    return { op, table, key, before, after, source, transaction, tsMs, ...seldom };
  }

  protected override detachParts(): void {
    detachBlock(this.#sourceFields["source"]);
  }
}
