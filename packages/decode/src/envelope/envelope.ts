import type { Origin } from "./origin.ts";
import type { ReadPlan } from "../encoding/reader.ts";
import type { CdcEvent, ChangeEvent, EncodingName, EnvelopeName, FramingName, RowEvent, TableName } from "../event.ts";
import type { BinaryHandling, ResolvedLimits, ResolvedValueOptions } from "../options.ts";
import type { SchemaId } from "../schema-source.ts";
import type { Semantic } from "../values/conversion.ts";

/** What can be known of a value before it is read, or from one that was: its names. */
export interface Shape {
  readonly topic: string;
  /** The schema's full name, or null where there is no schema. */
  readonly typeName: string | null;
  /** The full names of the records that a schema leaves to choose from, where it is a union of several. */
  readonly choices?: readonly string[];
  /** Top-level field names; null where the value is no record. */
  readonly fields: readonly string[] | null;
  /**
   * The names inside of a top-level field where a schema states them, else null: of values without a schema only the outermost names are the
   * same for all that are read alike, and `open` tells by what is in them.
   */
  readonly fieldsOf: (field: string) => readonly string[] | null;
  /** Whether the value is text: it may hold a document. */
  readonly isText: boolean;
  /** Of the record's header names, those that some envelope is recognised by (`EnvelopeFormat.headerNames`). */
  readonly headerNames: readonly string[];
}

/** How a record's value was read: what every event of it says of its format. */
export interface Route {
  readonly framing: FramingName;
  readonly encoding: EncodingName;
  readonly envelope: EnvelopeName;
  readonly schemaId: SchemaId | null;
}

/** What all records of one topic have in common. One object for as long as the topic is remembered: envelopes may key a WeakMap by it. */
export interface EnvelopeScope {
  readonly topic: string;
  /** The table that the topic, or the user's hint, names. */
  readonly topicTable: TableName | null;
  readonly values: ResolvedValueOptions;
  readonly limits: ResolvedLimits;
  /** How the connector writes bytes as text; null where the user has not said it. */
  readonly binaryHandling: BinaryHandling | null;
  /** What the user has said that columns mean, by their names. */
  readonly columns: ReadonlyMap<string, Semantic>;
  /**
   * What one record says may be used for another only where the user has given something that remembers it (`learn.schemaChanges`): it is
   * kept for that object, and as long as it lives. Null where he has not: a record is then what its own bytes say.
   */
  readonly memory: object | null;
  /** Whether what a record says may be kept in `memory`: `explain()` reads it, and keeps nothing. */
  readonly mayLearn: boolean;
  /** JSON text inside of a value (a document in a column), without rounding its numbers. Throws a `DecodeError`. */
  readonly parseJson: (text: string) => unknown;
  /** Counts what looking at a column's type costs, in nanoseconds or so. Throws a `DecodeError` where that is more than a message may. */
  readonly addCost?: (cost: number) => void;
}

/** One CDC system's way of wrapping rows. */
export interface EnvelopeFormat {
  readonly name: EnvelopeName;
  /**
   * The header names by which it may be recognised: `shape.headerNames` holds those and no others, so that a topic's other headers do not
   * multiply its readers.
   * @default none
   */
  readonly headerNames?: readonly string[];
  /** What in the shape says that it is this envelope, or null. */
  recognise(shape: Shape): string | null;
  /**
   * The outermost members that its events tell of, in values of this shape: any other becomes their `extra`. Asked for once a shape.
   * @default all of them
   */
  membersOf?(shape: Shape): ReadonlySet<string>;
  /** What of the value the envelope wants, asked for once a schema. */
  planFor(shape: Shape): ReadPlan;
  /**
   * Whether a column of a row that is not wrapped is the envelope's own and taken out of the row; `names` are all of its columns.
   * @default none is
   */
  isMetaColumn?(name: string, names: readonly string[]): boolean;
  /**
   * The bytes of a message inside of this value (a CloudEvent's `data`), framed or not, which is decoded first (with this envelope's plan
   * for the inner shape) and handed to `open`; null where this value has none.
   */
  inner?(value: unknown): Uint8Array | null;
  /**
   * The framing that the key must have if the value has it, because the key then says what the value is.
   * @default none: keys and values are read by themselves
   */
  readonly pairedFraming?: FramingName;
  /**
   * The table that a value names in its own words, before it is opened; null if it names none. One object for as long as it stays the same.
   * @default none
   */
  tableIn?(value: unknown): TableName | null;
  /**
   * Whether what Debezium says of a table's columns (in a key's schema, in a schema change) is true of an event's rows.
   * @default false: another system's rows are written in its own ways
   */
  sharesSemantics?(event: ChangeEvent | RowEvent): boolean;
  /**
   * The events of one decoded value, which was read with the plan; null where its values show that it is not this envelope after all: the
   * next one that recognises itself is asked then.
   */
  open(value: unknown, origin: Origin, inner?: unknown): readonly CdcEvent[] | null;
  /**
   * The events of a value that `open` declined, read again with nothing deferred or skipped: the envelope is this one, but what is in it is
   * unknown. Null where it is another's.
   */
  openUnprojected?(value: unknown, origin: Origin): readonly CdcEvent[] | null;
}
