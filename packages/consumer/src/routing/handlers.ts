import type {
  CdcEvent,
  ChangeEvent,
  Columns,
  HeartbeatEvent,
  MessageEvent,
  NotificationEvent,
  Operation,
  RowEvent,
  SchemaChangeEvent,
  TombstoneEvent,
  TransactionEvent,
  TruncateEvent,
  UnknownEvent,
  WatermarkEvent,
} from "@cdckit/decode";

/** An inserted row. */
export type CreateEvent<Row = Columns, Key = Columns> = ChangeEvent<Row, Key> & { readonly op: "create"; readonly after: Row };
/** A row that was changed. `before` is null if the source did not send it. */
export type UpdateEvent<Row = Columns, Key = Columns> = ChangeEvent<Row, Key> & { readonly op: "update"; readonly after: Row };
/** A row that was deleted. */
export type DeleteEvent<Row = Columns, Key = Columns> = ChangeEvent<Row, Key> & { readonly op: "delete"; readonly after: null };
/** A row that a snapshot has read. */
export type ReadEvent<Row = Columns, Key = Columns> = ChangeEvent<Row, Key> & { readonly op: "read"; readonly after: Row };

/** A change by its operation: when `op` is known, the type says whether `after` is there. */
export type AnyChangeEvent<Row = Columns, Key = Columns> =
  | CreateEvent<Row, Key>
  | UpdateEvent<Row, Key>
  | DeleteEvent<Row, Key>
  | ReadEvent<Row, Key>;

/** Every event that belongs to a table. */
export type TableEvent<Row = Columns, Key = Columns> = AnyChangeEvent<Row, Key> | RowEvent<Row, Key> | TruncateEvent | TombstoneEvent<Key>;

/** What a stream gives: the events of the tables of a map (without a map, of any table), and the events that belong to no table. */
export type StreamEvent<Tables extends object = Record<never, never>> =
  | ([keyof Tables] extends [never]
      ? TableEvent
      : { [Name in keyof Tables]: TableEvent<RowOf<Tables[Name]>, KeyOf<Tables[Name]>> }[keyof Tables])
  | ControlEvents[ControlKind];

/** Handles one event. The next event of the partition waits for the promise. If none is returned, nothing waits. */
export type EventHandler<Event> = (event: Event) => void | PromiseLike<void>;

/** What to do with the events of a table, one at a time. An event without a handler is filtered: counted, and committed. */
export interface EachTableHandlers<Row = Columns, Key = Columns> {
  /** A row was inserted. `before` is null. */
  readonly create?: EventHandler<CreateEvent<Row, Key>>;
  /** A row was changed. `before` is null if the source did not send it (PostgreSQL without REPLICA IDENTITY FULL). */
  readonly update?: EventHandler<UpdateEvent<Row, Key>>;
  /** A row was deleted. `after` is null; `before` may have the columns of the key alone. */
  readonly delete?: EventHandler<DeleteEvent<Row, Key>>;
  /** A row that a snapshot read. */
  readonly read?: EventHandler<ReadEvent<Row, Key>>;
  /** The table was emptied. There is no row and no key. */
  readonly truncate?: EventHandler<TruncateEvent>;
  /** A row without an envelope. */
  readonly row?: EventHandler<RowEvent<Row, Key>>;
  /** The null value that follows a delete, so that compaction may remove the key. */
  readonly tombstone?: EventHandler<TombstoneEvent<Key>>;
  /** A batch takes every event of its table, and goes with none of these. */
  readonly batch?: never;
}

/** Beside `batch` there is no handler of one event: a batch takes every event of its table, in order. */
type NoEachHandlers = { readonly [Slot in TableSlot]?: never };

/** What to do with the events of a table, several at a time. */
export interface BatchTableHandlers<Row = Columns, Key = Columns> extends NoEachHandlers {
  /**
   * Every event of the table in batches, in order, each batch of one partition. Tombstones and truncates are
   * included: otherwise other handlers would get them out of order. A batch is what was fetched together, or what `delivery.batch` says.
   * The next batch of the partition waits for the promise.
   */
  readonly batch: EventHandler<readonly TableEvent<Row, Key>[]>;
}

/** What to do with the events of a table: one at a time, or all of them in batches. */
export type TableHandlers<Row = Columns, Key = Columns> = EachTableHandlers<Row, Key> | BatchTableHandlers<Row, Key>;

/** Which changes of a table its handlers take. */
export interface OperationFilter {
  /**
   * The operations that are taken. A change with another one is not handed to these handlers, as if they had none for it. Rows without an
   * envelope, truncates and tombstones are no changes, and are taken as before.
   * @default every operation
   */
  readonly ops?: readonly Operation[];
}

/** An event whose key has passed a validator, and so is not null. */
export type Keyed<Event, Key> = Event extends { readonly kind: "truncate" } ? Event : Event & { readonly key: Key };

/** The handlers of a table whose keys are validated, for one event at a time. */
export interface EachKeyedTableHandlers<Row, Key> {
  /** A row was inserted. Its key has passed the validator, as the keys of the events below have. */
  readonly create?: EventHandler<Keyed<CreateEvent<Row, Key>, Key>>;
  /** A row was changed. `before` is null if the source did not send it. */
  readonly update?: EventHandler<Keyed<UpdateEvent<Row, Key>, Key>>;
  /** A row was deleted. `after` is null. */
  readonly delete?: EventHandler<Keyed<DeleteEvent<Row, Key>, Key>>;
  /** A row that a snapshot read. */
  readonly read?: EventHandler<Keyed<ReadEvent<Row, Key>, Key>>;
  /** The table was emptied. The event has no key. */
  readonly truncate?: EventHandler<TruncateEvent>;
  /** A row without an envelope: what happened to it is not said. */
  readonly row?: EventHandler<Keyed<RowEvent<Row, Key>, Key>>;
  /** The null value that follows a delete, so that compaction may remove the key. */
  readonly tombstone?: EventHandler<Keyed<TombstoneEvent<Key>, Key>>;
  /** A batch takes every event of its table, and goes with none of these. */
  readonly batch?: never;
}

/** The handler of a table whose keys are validated, for several events at a time. */
export interface BatchKeyedTableHandlers<Row, Key> extends NoEachHandlers {
  /** Every event of the table, in order, in batches of one partition. */
  readonly batch: EventHandler<readonly Keyed<TableEvent<Row, Key>, Key>[]>;
}

/** The handlers of a table whose keys are validated: for one event at a time, or for all of them in batches. */
export type KeyedTableHandlers<Row, Key> = EachKeyedTableHandlers<Row, Key> | BatchKeyedTableHandlers<Row, Key>;

/** The types of a table's rows and keys, as `cdc-bench types` writes them. */
export interface TableTypes<Row = unknown, Key = unknown> {
  /** The type of `before`, `after` and `row`. */
  readonly row: Row;
  /** The type of `key`. */
  readonly key: Key;
}

export type RowOf<Table> = Table extends { readonly row: infer Row } ? Row : Columns;
export type KeyOf<Table> = Table extends { readonly key: infer Key } ? Key : Columns;

/** Patterns of a consumer without a map of tables: any text. With a map, a pattern that is not in it does not compile. */
export type UntypedPattern<Tables extends object> = [keyof Tables] extends [never] ? string : never;

/** Events that belong to no table, by kind. Tombstones that no table handler took are among them. */
export interface ControlEvents {
  /** From a heartbeat topic: the connector is alive. */
  readonly heartbeat: HeartbeatEvent;
  /** From the topic of transaction metadata: a transaction began or ended. */
  readonly transaction: TransactionEvent;
  /** What an application wrote with `pg_logical_emit_message`. */
  readonly message: MessageEvent;
  /** From the schema-change topic: the DDL of a table. */
  readonly "schema-change": SchemaChangeEvent;
  /** From Debezium's notification topic, such as the progress of a snapshot. */
  readonly notification: NotificationEvent;
  /** From TiCDC's and CockroachDB's resolved records: everything before a time has arrived. */
  readonly watermark: WatermarkEvent;
  /** A null value, if no `tombstone` handler of a table took it. */
  readonly tombstone: TombstoneEvent;
  /** A value that was decoded, and that no envelope knows. */
  readonly unknown: UnknownEvent;
}

/** The kinds of events that are about no row. */
export type ControlKind = keyof ControlEvents;

/** What can happen to a table, as its handlers are named. A new one does not compile without its name here. */
export type TableSlot = Exclude<keyof EachTableHandlers, "batch">;

const slotNames: Readonly<Record<TableSlot, true>> = {
  create: true,
  update: true,
  delete: true,
  read: true,
  truncate: true,
  row: true,
  tombstone: true,
};

/** Every {@link TableSlot}: the names of a table's handlers that take one event at a time. */
export const tableSlots: readonly TableSlot[] = Object.freeze(Object.keys(slotNames) as TableSlot[]);

const controlKinds: Readonly<Record<ControlKind, true>> = {
  heartbeat: true,
  transaction: true,
  message: true,
  "schema-change": true,
  notification: true,
  watermark: true,
  tombstone: true,
  unknown: true,
};

/** Whether a pattern of `on` is the kind of events that belong to no table. */
export function isControlKind(name: string): name is ControlKind {
  return Object.hasOwn(controlKinds, name);
}

/** A handler for any event. */
export type AnyHandler = EventHandler<CdcEvent>;
