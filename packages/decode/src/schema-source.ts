/**
 * How a message names its schema: the number of the Confluent API, or a text that says which number space or kind of id it is:
 * `guid:<uuid>` (Confluent's second framing), `contentId:<number>` and `globalId:<number>` (Apicurio), `contentHash:<hash>` and
 * `artifact:<group>/<artifact>/<version>` (Apicurio, each part percent-encoded), `glue:<uuid>` (AWS Glue's schema version),
 * `azure:<32 hex digits>`, `buf:<commit>` (Buf Schema Registry), `fingerprint:<16 hex digits>` (Avro single-object: the CRC-64-AVRO as a
 * number, so not in the order of its bytes). `inline:<type>:<sha256>` is a schema that a message carries; no source is asked for it.
 */
export type SchemaId = number | string;

/**
 * The language of a schema. `KCONNECT` is a Kafka Connect schema as JSON text, as Apicurio's ExtJsonConverter registers it; other names are
 * of schema encodings of one's own.
 */
export type SchemaType = "AVRO" | "JSON" | "PROTOBUF" | "KCONNECT" | (string & {});

/** Which message of a Protobuf schema: by Confluent's path of indexes, by full name, or by its place among all names in order (Glue). */
export type MessageSelector =
  | {
      readonly kind: "path";
      readonly path: readonly number[];
      /**
       * Whether the messages that map fields make are counted, as descriptors hold them (Python's and Go's writers do).
       * @default false
       */
      readonly mapEntries?: boolean;
    }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "sorted"; readonly index: number };

/** A schema as a registry hands it out. */
export interface RegisteredSchema {
  readonly id: SchemaId;
  readonly schemaType: SchemaType;
  /** The schema's text, never trusted: it is parsed within bounds and reaches generated code only as quoted constants. */
  readonly schema: string;
  /** The schemas that the text refers to by name, their own references before them. */
  readonly references?: readonly SchemaReference[];
  /**
   * Whether the registry keeps rules beside the schema by which producers change what they write (encryption, above all), so that a
   * payload which does not fit the schema is not to blame.
   * @default false
   */
  readonly hasRuleSet?: boolean;
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
 * (asking again will not help). Bytes that only look framed are taken for what else they can be where their id is not found; an error with
 * `isCertain: false` says that the id itself may exist (something it refers to is missing), and none are.
 */
export interface SchemaSource {
  /** Whom it asks, for messages and health reports: an address or a name, without credentials. Absent where that says nothing. */
  readonly host?: string;
  /** The schema if it is at hand. Never waits. */
  peek(id: SchemaId): RegisteredSchema | undefined;
  /** Fetches the schema once for any number of waiters. */
  load(id: SchemaId): Promise<RegisteredSchema>;
}

export type SchemaLoadFailure = "not-found" | "unavailable" | "refused";
