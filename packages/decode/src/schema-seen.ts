import type { Type } from "./encoding/type.ts";
import type { EncodingName, EnvelopeName } from "./event.ts";
import type { SchemaId } from "./schema-source.ts";

/** A schema of one side of a topic, when it is seen for the first time. */
export interface SchemaSeen {
  /** The name of the topic. */
  readonly topic: string;
  /** Whether it is the schema of keys or of values. */
  readonly side: "key" | "value";
  /** Null if the message carries its schema and names no id. */
  readonly schemaId: SchemaId | null;
  /** How the bytes are written. */
  readonly encoding: EncodingName;
  /** Which system wrote the value. */
  readonly envelope: EnvelopeName;
  /** The type of the whole key or value, from the writer schema. */
  readonly type: Type;
  /** The type of the rows inside of the envelope, or the type of the key itself for keys; null if there are no rows (a heartbeat). */
  readonly row: Type | null;
}

/** Called while a record is decoded, before its events are returned. The next events of that record have this schema. */
export type SchemaListener = (seen: SchemaSeen) => void;
