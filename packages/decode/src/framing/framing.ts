import type { EncodingName, FramingName } from "../event.ts";
import type { RecordHeaders } from "../record.ts";
import type { MessageSelector, RegisteredSchema, SchemaId, SchemaType } from "../schema-source.ts";

export type Side = "key" | "value";

/** One side of a record, in place, with the record's headers. */
export interface Message {
  readonly side: Side;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly headers: RecordHeaders;
  /** Most bytes that a compressed payload may unpack to. */
  readonly maxBytes: number;
}

/** One way in which a message names its schema. */
export interface Framing {
  readonly name: FramingName;
  /**
   * Names of headers that can announce this framing. One that has some is asked before all others, and only where a record has one of them;
   * one that has none is recognised by the message's first bytes alone.
   */
  readonly headerNames: readonly string[];
  /** What in the bytes or headers says that it is this framing, or null. Never throws. */
  recognise(message: Message): string | null;
  /** Takes the frame off. Asked only where the message was recognised; throws a `DecodeError` where the frame is broken. */
  open(message: Message): Frame;
  /**
   * For schemas with several messages (Protobuf), how the payload's first bytes choose one; most likely first. Of those that the
   * schema has, the one whose message fits the payload is taken; that several do is an error. Absent where the frame's own `message` says it all. `isTolerant`: also
   * those that only known-bad writers make (reversed indexes, none at all).
   */
  choices?(bytes: Uint8Array, start: number, end: number, isTolerant: boolean): readonly MessageChoice[];
  /**
   * What its messages begin with: it is asked for those alone, and the fast path takes those that begin in another way.
   * @default unknown: it is asked for every message, and only messages of framings that are asked before it take the fast path
   */
  readonly prefixes?: readonly Buffer[];
  /**
   * The bytes that all messages begin with which name this schema and whose payload begins with `choice` (no bytes, if the schema has but
   * one message), if these hold one value each: the fast path compares no more of them. Null if further bytes may mean something else. A
   * framing that has this is asked before those that have not.
   */
  prefixOf?(schemaId: SchemaId, choice: Buffer): Buffer | null;
  /**
   * Whether its messages are several texts, one behind the other, so that each begins like a message of one: it is asked after the first
   * text was read, and more followed it.
   * @default false
   */
  readonly packsTexts?: boolean;
  /**
   * Whether its serializers leave out the length of an Avro value that is all bytes.
   * @default false
   */
  readonly writesBareBytes?: boolean;
}

/** A message without its frame. */
export interface Frame {
  /** What the schema source is asked for; null where nothing is named, or `schema` is at hand. */
  readonly schemaId: SchemaId | null;
  /** The schema itself, where the message carries it. */
  readonly schema?: RegisteredSchema;
  /** What the payload is written in, where the frame states it and the schema's own encoding is not meant (Avro written as JSON). */
  readonly encoding?: EncodingName;
  /** Which of the schema's messages it is, where the frame states it. */
  readonly message?: MessageSelector;
  /**
   * Whether others may well write the same mark: then a message whose schema no source knows is read as if it were not there.
   * @default false for what headers announce. Of bytes: true for keys, which may be any bytes, and for what begins with a brace
   */
  readonly isAmbiguous?: boolean;
  /** The payload, in the message's own bytes or in unpacked ones; several where one record holds many. */
  readonly payloads: readonly Payload[];
}

/** Values that stand one after another from `start` to `end`: one, but for an Avro container file's blocks. */
export interface Payload {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly count: number;
}

export interface MessageChoice {
  readonly message: MessageSelector;
  /** How many bytes of the payload the choice itself takes. */
  readonly length: number;
  /** The framing that writes choices like this, where the frame before it cannot tell. */
  readonly framing?: FramingName;
}

/** The types of schema that hold several messages. */
export function hasMessages(schemaType: SchemaType): boolean {
  return schemaType === "PROTOBUF";
}
