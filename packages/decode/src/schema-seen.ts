import type { Type } from "./encoding/type.ts";
import type { EncodingName, EnvelopeName } from "./event.ts";
import type { SchemaId } from "./schema-source.ts";

/** A schema that one side of a topic was seen to be written with, for the first time. */
export interface SchemaSeen {
  readonly topic: string;
  readonly side: "key" | "value";
  /** Null where the message carries its schema, and not by an id. */
  readonly schemaId: SchemaId | null;
  readonly encoding: EncodingName;
  readonly envelope: EnvelopeName;
  /** The writer's type of the whole key or value. */
  readonly type: Type;
  /** The type of the rows inside of its envelope; of the key itself for keys; null where there are none (a heartbeat). */
  readonly row: Type | null;
}

/** Called while a record is decoded, before its events are given out: the next events of that record are of this schema. */
export type SchemaListener = (seen: SchemaSeen) => void;
