import type { Origin } from "./origin.ts";
import type { ReadPlan } from "../encoding/reader.ts";
import type { CdcEvent, ChangeEvent, EncodingName, EnvelopeName, FramingName, RowEvent, TableName } from "../event.ts";
import type { BinaryHandling, ResolvedLimits, ResolvedValueOptions } from "../options.ts";
import type { SchemaId } from "../schema-source.ts";
import type { Semantic } from "../values/conversion.ts";

/**
 * What can be known about a value without its contents: its topic and its names. It is made before the value is read, or from a value that
 * was read.
 */
export interface Shape {
  /** The name of the topic. */
  readonly topic: string;
  /** The schema's full name, or null if there is no schema. */
  readonly typeName: string | null;
  /** The full names of the records in the schema, if the schema is a union of several. */
  readonly unionNames?: readonly string[];
  /** Top-level field names; null if the value is not a record. */
  readonly fields: readonly string[] | null;
  /**
   * The names inside of a top-level field if a schema states them, or null. Values without a schema have the same shape if their outermost
   * names are the same. Their inner names can differ, so `open` looks at them.
   */
  readonly fieldsOf: (field: string) => readonly string[] | null;
  /** Whether the value is text, which may hold a document. */
  readonly isText: boolean;
  /** The names of the record's headers that can identify an envelope (`EnvelopeFormat.headerNames`). */
  readonly headerNames: readonly string[];
}

/** How a record's value was read. All events of the record state these facts. */
export interface Route {
  /** How the value names its schema. */
  readonly framing: FramingName;
  /** How its bytes are written. */
  readonly encoding: EncodingName;
  /** Which system wrote it. */
  readonly envelope: EnvelopeName;
  /** The id of its schema; null if it names none. */
  readonly schemaId: SchemaId | null;
}

/**
 * What all records of one topic have in common. It stays the same object for as long as the topic is remembered, so that envelopes may use
 * it as a key of a WeakMap.
 */
export interface EnvelopeScope {
  /** The name of the topic. */
  readonly topic: string;
  /** The table that the topic or the user's hint names. */
  readonly topicTable: TableName | null;
  /** How values are made, with every default filled in. */
  readonly values: ResolvedValueOptions;
  /** The bounds, with every default filled in. */
  readonly limits: ResolvedLimits;
  /** How the connector writes bytes as text; null if the user has not said it. */
  readonly binaryHandling: BinaryHandling | null;
  /** The semantics of columns that the user has given, by column name. */
  readonly columns: ReadonlyMap<string, Semantic>;
  /**
   * The object that facts from one record are kept for, so that later records can use them. The user gives it (`learn.schemaChanges`), and
   * the facts live as long as it does. Null if the user gave none: each record is then read from its own bytes alone.
   */
  readonly memory: object | null;
  /** Whether facts from a record may be kept in `memory`. `explain()` uses the memory but adds nothing to it. */
  readonly mayLearn: boolean;
  /** Parses JSON text inside of a value (a document in a column) without rounding its numbers. Throws a `DecodeError`. */
  readonly parseJson: (text: string) => unknown;
  /**
   * Adds the cost of reading a column's type, in nanoseconds or so, to the cost of the message. Throws a `DecodeError` if the message's
   * budget is used up.
   */
  readonly addCost?: (cost: number) => void;
  /**
   * Called by an envelope whose plan {@link ReadPlan.isSelectable}, for a value whose events are made of whole rows all the same. The value is
   * then read again with all columns.
   */
  readonly needWholeRows?: () => void;
}

/** The JSON text of an outermost member of a value. Null if the value is no JSON text without a schema, or lacks the member. */
export type MemberText = (name: string) => Uint8Array | null;

/** One CDC system's way of wrapping rows. */
export interface EnvelopeFormat {
  /** The name by which an event names it. */
  readonly name: EnvelopeName;
  /**
   * The header names that can identify this envelope. `shape.headerNames` holds only such names, so that the other headers of a topic do
   * not multiply its readers.
   * @default none
   */
  readonly headerNames?: readonly string[];
  /** The evidence in the shape for this envelope, or null. */
  recognise(shape: Shape): string | null;
  /**
   * The outermost members that become parts of events, for values of this shape. All other members become `extra`. Called once per shape.
   * @default all of them
   */
  membersOf?(shape: Shape): ReadonlySet<string>;
  /** The parts of the value that the envelope reads. Called once per schema. */
  planFor(shape: Shape): ReadPlan;
  /**
   * Whether a column of a row, or of an image, belongs to the envelope, so that it is taken out of the row. `names` are all columns of the
   * row.
   * @default no column does
   */
  isMetaColumn?(name: string, names: readonly string[]): boolean;
  /**
   * The bytes of a message inside of this value (a CloudEvent's `data`), with or without a frame. The message is decoded first, with this
   * envelope's plan for the inner shape, and its value is passed to `open`. Null if this value has no inner message. `textOf` gives a part of
   * the value as it was written.
   */
  inner?(value: unknown, textOf: MemberText): Uint8Array | null;
  /**
   * The framing that the key must have if the value has it, because the key says what the value contains. Example: a key of TiCDC's open
   * protocol names the tables of the rows in the value. If another producer has written another key, the value cannot be opened.
   * @default none: keys and values are read independently
   */
  readonly pairedFraming?: FramingName;
  /**
   * The table that a value names, before the value is opened; null if it names none. It is the same object for as long as the table stays
   * the same.
   * @default none
   */
  tableIn?(value: unknown): TableName | null;
  /**
   * Whether this namespace of a schema has the database in front of the table's name, even if the table is in a schema of the database. It
   * is asked only for values whose table `tableIn` gives.
   * @default false: the table's schema stands there, if it has one
   */
  hasDatabaseBeforeTable?(namespace: string): boolean;
  /**
   * Whether the column semantics that Debezium states (in a key's schema, in a schema change) hold for the rows of this event. Example: a
   * flattened row has no types, and a schema change of the same connector says that its column `price` is a decimal.
   * @default false, because another system writes its rows in another form
   */
  sharesSemantics?(event: ChangeEvent | RowEvent): boolean;
  /**
   * The events of one decoded value, which was read with the plan. Null if its values show that it is not in this envelope. The next
   * envelope that recognises the shape is then asked.
   */
  open(value: unknown, origin: Origin, inner?: unknown): readonly CdcEvent[] | null;
  /**
   * The events of a value that `open` declined, read again with nothing deferred or skipped: the envelope is the right one, but its
   * contents are unknown. Null if the value belongs to another envelope.
   */
  openUnprojected?(value: unknown, origin: Origin): readonly CdcEvent[] | null;
}
