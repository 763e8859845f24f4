/**
 * How a message names its schema. A number is an id of the Confluent API. A text says which kind of id it is:
 * - `guid:<uuid>`: Confluent's second framing;
 * - `contentId:<number>`, `globalId:<number>`: Apicurio;
 * - `contentHash:<hash>`, `artifact:<group>/<artifact>/<version>`: Apicurio, each part percent-encoded;
 * - `glue:<uuid>`: a schema version of AWS Glue;
 * - `azure:<32 hex digits>`: Azure Schema Registry;
 * - `buf:<commit>`: Buf Schema Registry;
 * - `fingerprint:<16 hex digits>`: Avro single-object. The CRC-64-AVRO as a number, which is not in the order of its bytes;
 * - `inline:<type>:<sha256>`: a schema that the message carries. No source is asked for it.
 */
export type SchemaId = number | string;

/**
 * The language of a schema. `KCONNECT` is a Kafka Connect schema as JSON text, as Apicurio's ExtJsonConverter registers it. Other names
 * belong to a user's own schema encodings.
 */
export type SchemaType = "AVRO" | "JSON" | "PROTOBUF" | "KCONNECT" | (string & {});

/**
 * Which message of a Protobuf schema: by Confluent's path of indexes, by full name, or by its index among all names in sorted order (Glue).
 */
export type MessageSelector =
  | {
      readonly kind: "path";
      /** The index of the outermost message, then of the one inside of it, and so on; from 0. */
      readonly path: readonly number[];
      /**
       * Whether the messages that map fields make count as well, as in descriptors (writers in Python and Go count them).
       * @default false
       */
      readonly mapEntries?: boolean;
    }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "sorted"; readonly index: number };

/** A schema in the form that a registry returns. */
export interface RegisteredSchema {
  /** The id that was asked for. */
  readonly id: SchemaId;
  /** The language of the schema. */
  readonly schemaType: SchemaType;
  /** The schema's text. It is not trusted: it is parsed within limits and gets into generated code only as quoted constants. */
  readonly schema: string;
  /** The schemas that the text refers to by name. The references of each schema come before it. */
  readonly references?: readonly SchemaReference[];
  /**
   * Whether the registry has rules with the schema by which producers change their messages (mainly encryption), so that a payload that
   * does not fit the schema is not wrong.
   * @default false
   */
  readonly hasRuleSet?: boolean;
}

/** A schema that another one names. */
export interface SchemaReference {
  /** The name by which the referring schema refers to it. */
  readonly name: string;
  /** The text of the schema that is referred to. */
  readonly schema: string;
}

/**
 * The source of schemas: the port that the decoder asks and `@cdckit/registry` implements.
 *
 * `load` rejects with an error that has a `code`: `"not-found"` (there is no such id), `"unavailable"` (ask again later) or `"refused"`
 * (asking again does not help). If an id is not found, bytes that only look framed are read in another format. An error with `isCertain:
 * false` says that the id itself may exist (something that it refers to is missing), and such bytes are then not read in another format.
 */
export interface SchemaSource {
  /** The host that it asks, for messages and health reports: an address or a name, without credentials. Absent if there is none. */
  readonly host?: string;
  /** The schema if it is at hand, otherwise undefined. Never waits. */
  peek(id: SchemaId): RegisteredSchema | undefined;
  /**
   * Loads the schema. Callers that ask for the same id at the same time share one request. After it resolves, `peek` must return the
   * schema.
   */
  load(id: SchemaId): Promise<RegisteredSchema>;
  /**
   * Why the last attempt to load this schema failed, as an error, while `load` pauses before the next one. Undefined if no attempt of the load
   * has failed, or if none is under way. Health reports show it, because a source may be asked to pause for long.
   */
  lastFailure?(id: SchemaId): unknown;
}

/** Why a schema could not be loaded. Only `unavailable` is worth another attempt. */
export type SchemaLoadFailure = "not-found" | "unavailable" | "refused";
