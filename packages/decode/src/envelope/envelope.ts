import type { ReadPlan } from "../encoding/reader.ts";
import type { CdcEvent, EncodingName, EnvelopeName, FramingName, TableName } from "../event.ts";
import type { RecordBatch } from "../record.ts";
import type { SchemaId } from "../schema-source.ts";

/** What can be known of a value before it is read, or from one that was: its names. */
export interface Shape {
  readonly topic: string;
  /** The schema's full name, or null where there is no schema. */
  readonly typeName: string | null;
  /** Top-level field names; null where the value is no record. */
  readonly fields: readonly string[] | null;
  readonly headerNames: readonly string[];
}

/** How a record's value was read: what every event of it says of its format. */
export interface Route {
  readonly framing: FramingName;
  readonly encoding: EncodingName;
  readonly envelope: EnvelopeName;
  readonly schemaId: SchemaId | null;
}

/** Where a value came from: its record, how it was read, and its key. One for all events of a record. */
export interface Origin {
  readonly key: unknown;
  readonly route: Route;
  readonly batch: RecordBatch;
  /** The batch's handle of the record. */
  readonly record: number;
  /** The table that the topic, or the user's hint, names. */
  readonly topicTable: TableName | null;
}

/** One CDC system's way of wrapping rows. */
export interface EnvelopeFormat {
  readonly name: EnvelopeName;
  /** What in the shape says that it is this envelope, or null. */
  recognise(shape: Shape): string | null;
  /** What of the value the envelope wants, asked for once a schema. */
  planFor(shape: Shape): ReadPlan;
  /** The events of one decoded value, which was read with the plan. */
  open(value: unknown, origin: Origin): readonly CdcEvent[];
}
