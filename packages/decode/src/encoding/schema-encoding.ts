import type { EncodingName } from "../event.ts";
import type { ResolvedLimits } from "../options.ts";
import type { MessageSelector, RegisteredSchema, SchemaType } from "../schema-source.ts";
import type { CompileOptions, PayloadReader } from "./reader.ts";
import type { Type } from "./type.ts";

/** An encoding whose bytes can be read with their writer's schema alone. */
export interface SchemaEncoding {
  readonly name: EncodingName;
  readonly schemaType: SchemaType;
  /**
   * Whether its schemas leave out what columns mean, so that hints and what was learned are used.
   * @default false
   */
  readonly losesSemantics?: boolean;
  /**
   * Whether a value that is null is a tombstone.
   * @default false: it is a value like any other
   */
  readonly nullIsTombstone?: boolean;
  /** Whether `parse` may be called: false until `load` has brought what it needs. Absent if nothing is needed. */
  isLoaded?(): boolean;
  load?(): Promise<void>;
  /**
   * The schema, understood once. Throws a `DecodeError` of code `schema-invalid` (or `unsupported-format`, `limit-exceeded`). What
   * `ParsedSchema` tells is told of the schema as it is `wanted`.
   */
  parse(schema: RegisteredSchema, limits: ResolvedLimits, wanted?: WantedSchema): ParsedSchema;
}

/** What a user wants of values beside what their writer's schema says. */
export interface WantedSchema {
  /** The schema that values come in, for encodings that have rules for it. */
  readonly readerSchema: RegisteredSchema | null;
  /** Whether `_uXXXX` in the names of fields is the character that it stands for. */
  readonly unescapesNames: boolean;
}

export interface ParsedSchema {
  /** The type of one message, or null where the schema has no such message. `selected` is null where nothing chose: the first one then. */
  typeOf(selected: MessageSelector | null): Type | null;
  /** The reader of that message. Asked only for messages that `typeOf` knows. */
  compile(selected: MessageSelector | null, options: CompileOptions): PayloadReader;
  /**
   * Whether a writer of that message can have written all of the bytes, beyond that they can be read as one: asked where a payload may be
   * one of several messages. Absent where no schema has several.
   */
  fits?(selected: MessageSelector | null, bytes: Uint8Array, start: number, end: number): boolean;
  /**
   * Other messages that some writers choose with the same selector: a registry that writes a schema's text anew may change what is counted
   * before a message. Absent where there are none.
   */
  readingsOf?(selected: MessageSelector): readonly MessageSelector[];
}

/** An encoding that needs no schema, and that nothing in its bytes tells from others: read only where the user names it for a topic. */
export interface PlainEncoding {
  readonly name: EncodingName;
  /**
   * The type of all of its values, if it has but one. Null: a value stays what `parse` makes of it, and is no row.
   * @default none: each value is of its own
   */
  readonly type?: Type | null;
  /**
   * What `explain` says of a message that was read so although nobody named the encoding.
   * @default none: it is read only if it is named
   */
  readonly evidence?: string;
  /**
   * All of the bytes as one plain value: objects, arrays, strings, numbers, bigints (integers that a double cannot hold), booleans, null,
   * and Buffers for bytes. Throws a `DecodeError`.
   */
  parse(bytes: Buffer, start: number, end: number, limits: ResolvedLimits): unknown;
}
