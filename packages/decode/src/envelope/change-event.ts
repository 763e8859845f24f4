import { Deferred } from "../encoding/reader.ts";
import type { ChangeEvent, Columns, KeyChange, Operation, Source, TableName, TransactionPosition, UpdateDescription } from "../event.ts";
import { applyTo } from "../values/unavailable.ts";
import type { Origin } from "./envelope.ts";
import { keyChangeOf } from "./header-values.ts";
import { RecordEvent } from "./record-event.ts";
import { numberOrNull, plainSource, sourceOf, transactionOf } from "./source.ts";

/** A change, whatever envelope it came in. The source block is kept as it was read and put in the API's words on first access. */
export class EnvelopedChange extends RecordEvent implements ChangeEvent {
  readonly op: Operation;
  readonly table: TableName;
  readonly before: Columns | null;
  readonly after: Columns | null;
  declare readonly key: Columns | null;
  readonly #sourceBlock: unknown;
  readonly #transactionBlock: unknown;
  readonly #tsMs: unknown;
  #source: Source | null = null;

  constructor(
    op: Operation,
    table: TableName,
    before: Columns | null,
    after: Columns | null,
    sourceBlock: unknown,
    transactionBlock: unknown,
    tsMs: unknown,
    origin: Origin,
  ) {
    super(origin);
    this.op = op;
    this.table = table;
    this.before = before;
    this.after = after;
    this.#sourceBlock = sourceBlock;
    this.#transactionBlock = transactionBlock;
    this.#tsMs = tsMs;
  }

  get kind(): "change" {
    return "change";
  }

  get source(): Source {
    this.#source ??= sourceOf(blockValue(this.#sourceBlock));
    return this.#source;
  }

  get transaction(): TransactionPosition | null {
    return transactionOf(this.#transactionBlock);
  }

  get tsMs(): number | null {
    return numberOrNull(this.#tsMs);
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

  protected fields(): Record<string, unknown> {
    const { op, table, key, before, after, transaction, tsMs, keyChange, updateDescription } = this;
    const source = plainSource(this.source);
    const seldom = { ...(keyChange === null ? {} : { keyChange }), ...(updateDescription === null ? {} : { updateDescription }) };
    return { op, table, key, before, after, source, transaction, tsMs, ...seldom };
  }

  protected override detachParts(): void {
    detachBlock(this.#sourceBlock);
  }
}

/** A block's value, read now if it was deferred. */
export function blockValue(block: unknown): unknown {
  return block instanceof Deferred ? block.value : block;
}

export function detachBlock(block: unknown): void {
  if (block instanceof Deferred) {
    block.detach();
  }
}
