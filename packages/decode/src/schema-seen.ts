import type { Type } from "./encoding/type.ts";
import type { EncodingName, EnvelopeName, TableName } from "./event.ts";
import type { SchemaId } from "./schema-source.ts";

/** A schema of one side of a topic, when it is seen for the first time with a table. */
export interface SchemaSeen {
  /** The name of the topic. */
  readonly topic: string;
  /** Whether it is the schema of keys or of values. */
  readonly side: "key" | "value";
  /** The table of the record, by its source's own names. Null if the record has none: it is a tombstone or a heartbeat, or there is no record (`describeSchema`). */
  readonly table: TableName | null;
  /** Null if the message carries its schema and names no id. */
  readonly schemaId: SchemaId | null;
  /** How the bytes are written. */
  readonly encoding: EncodingName;
  /** Which system wrote the value. */
  readonly envelope: EnvelopeName;
  /** The type of the whole key or value, from the writer schema. */
  readonly type: Type;
  /**
   * The type of the rows inside of the envelope, or the type of the key itself for keys; null if there are no rows (a heartbeat). In Protobuf, whose
   * schemas say nothing of it, columns mean what the hints say.
   */
  readonly row: Type | null;
}

/** Called when a record was decoded, before its events are returned. They have this schema. */
export type SchemaListener = (seen: SchemaSeen) => void;
