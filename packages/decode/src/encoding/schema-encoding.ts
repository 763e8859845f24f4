import type { EncodingName } from "../event.ts";
import type { ResolvedLimits } from "../options.ts";
import type { MessageSelector, RegisteredSchema, SchemaType } from "../schema-source.ts";
import type { CompileOptions, PayloadReader } from "./reader.ts";
import type { Type } from "./type.ts";

/** An encoding whose bytes can be read only with their writer's schema. */
export interface SchemaEncoding {
  /** The name by which an event names it. */
  readonly name: EncodingName;
  /** The language of its schemas, by which a registered schema chooses its encoding. */
  readonly schemaType: SchemaType;
  /**
   * Whether its schemas leave out the semantics of columns, so that hints and learned semantics are used.
   * @default false
   */
  readonly losesSemantics?: boolean;
  /**
   * Whether a value that is null is a tombstone.
   * @default false: null is a value like any other
   */
  readonly nullIsTombstone?: boolean;
  /** Whether `parse` may be called. False until `load` has loaded what it needs. Absent if nothing must be loaded. */
  isLoaded?(): boolean;
  /** Loads what `parse` needs, before the first schema is parsed. */
  load?(): Promise<void>;
  /**
   * Parses a schema. Throws a `DecodeError` with the code `schema-invalid`, `unsupported-format` or `limit-exceeded`. If a reader schema is
   * `wanted`, the types of the result are those of the reader schema.
   */
  parse(schema: RegisteredSchema, limits: ResolvedLimits, wanted?: WantedSchema): ParsedSchema;
}

/** What a user wants values to be, beyond what their writer's schema says. */
export interface WantedSchema {
  /** The schema to which values are resolved, for encodings that have schema resolution. */
  readonly readerSchema: RegisteredSchema | null;
  /** Whether `_uXXXX` in the names of fields is replaced by its character. */
  readonly unescapesNames: boolean;
}

/** A schema of one encoding, parsed once. */
export interface ParsedSchema {
  /** The type of one message, or null if the schema has no such message. If `selected` is null, the first message is meant. */
  typeOf(selected: MessageSelector | null): Type | null;
  /** The reader of that message. Called only if `typeOf` returned a type. */
  compile(selected: MessageSelector | null, options: CompileOptions): PayloadReader;
  /**
   * Whether a writer of that message can have written all of the bytes. This is stricter than whether they can be read. It is asked if a
   * payload may be one of several messages. Absent if a schema of this encoding has only one message.
   */
  fits?(selected: MessageSelector | null, bytes: Uint8Array, start: number, end: number): boolean;
  /**
   * Other messages that some writers mean by the same selector: a registry that rewrites a schema's text may change which declarations
   * count before a message. Absent if there are none.
   */
  readingsOf?(selected: MessageSelector): readonly MessageSelector[];
}

/** An encoding that needs no schema, and that nothing in its bytes distinguishes from others. It is read only if a topic names it. */
export interface PlainEncoding {
  /** The name by which a hint and an event name it. */
  readonly name: EncodingName;
  /**
   * The type of all values, if they have the same one. Null: the values stay as `parse` returns them, and are no rows.
   * @default none: each value has its own type
   */
  readonly type?: Type | null;
  /**
   * The evidence in `explain` for a message that was read in this encoding although no topic names it.
   * @default none: it is read only if a topic names it
   */
  readonly evidence?: string;
  /**
   * Reads all of the bytes as one plain value: objects, arrays, strings, numbers, bigints (integers that a double cannot hold), booleans,
   * null, and Buffers for bytes. Throws a `DecodeError`.
   */
  parse(bytes: Buffer, start: number, end: number, limits: ResolvedLimits): unknown;
}
