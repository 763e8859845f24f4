/** How a message names its schema: the Confluent API's number, or, for framings that use one, a textual id. */
export type SchemaId = number | string;

export type SchemaType = "AVRO" | "JSON" | "PROTOBUF";

/** A schema as a registry hands it out. */
export interface RegisteredSchema {
  readonly id: SchemaId;
  readonly schemaType: SchemaType;
  /** The schema's text, never trusted: it is parsed within bounds and reaches generated code only as quoted constants. */
  readonly schema: string;
  /** The schemas that the text refers to by name, their own references before them. */
  readonly references?: readonly SchemaReference[];
}

export interface SchemaReference {
  /** The name by which the referring schema calls it. */
  readonly name: string;
  readonly schema: string;
}

/**
 * Where schemas come from: the port that the decoder asks and `@cdckit/registry` implements.
 *
 * `load` rejects with an error that has `code`: `"not-found"` (there is no such id), `"unavailable"` (ask again later) or `"refused"`
 * (asking again will not help).
 */
export interface SchemaSource {
  /** The schema if it is at hand. Never waits. */
  peek(id: SchemaId): RegisteredSchema | undefined;
  /** Fetches the schema once for any number of waiters. */
  load(id: SchemaId): Promise<RegisteredSchema>;
}

export type SchemaLoadFailure = "not-found" | "unavailable" | "refused";
