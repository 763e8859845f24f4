import type { EncodingName, FramingName } from "../event.ts";
import type { RecordHeaders } from "../record.ts";
import type { MessageSelector, RegisteredSchema, SchemaId, SchemaType } from "../schema-source.ts";

/** Which half of a record. */
export type Side = "key" | "value";

/** One side of a record, in the bytes of its batch, with the headers of the record. */
export interface Message {
  /** Whether it is the key or the value. */
  readonly side: Side;
  /** The bytes that hold the message, and others before and after it. */
  readonly bytes: Buffer;
  /** The index of its first byte. */
  readonly start: number;
  /** The index after its last byte. */
  readonly end: number;
  /** The headers of the record, in their order. */
  readonly headers: RecordHeaders;
  /** The most bytes that a compressed payload may unpack to. */
  readonly maxBytes: number;
}

/** One way in which a message names its schema. */
export interface Framing {
  /** The name by which an event names it. */
  readonly name: FramingName;
  /**
   * Names of headers that can announce this framing. A framing with header names is asked before all others, and only if the record has one
   * of these headers. A framing without header names is recognised by the first bytes of the message alone.
   */
  readonly headerNames: readonly string[];
  /** The evidence in the bytes or headers for this framing, or null. Never throws. */
  recognise(message: Message): string | null;
  /** Takes the frame off. Called only if the message was recognised. Throws a `DecodeError` if the frame is broken. */
  open(message: Message): Frame;
  /**
   * How the first bytes of the payload choose a message, if the schema has several messages (Protobuf). The most likely choice comes first.
   * Choices that the schema does not have are dropped. The choice whose message fits the payload is taken, and it is an error if several
   * fit. Absent if the frame's own `message` is enough. If `isTolerant` is set, the choices include those that only writers with known bugs
   * make (reversed indexes, no indexes).
   */
  choices?(bytes: Uint8Array, start: number, end: number, isTolerant: boolean): readonly MessageChoice[];
  /**
   * The bytes that its messages can begin with: one entry for each possible beginning. The framing is asked only for messages that begin
   * with one of them, and the fast path leaves such messages to it, unless the record's own framing is asked earlier.
   * @default any bytes: the framing is asked for every message. As long as one framing has no `prefixes`, only messages of framings that
   * are asked before it take the fast path, and messages without a frame take the slow path
   */
  readonly prefixes?: readonly Buffer[];
  /**
   * Whether this framing is asked before those without this member, whatever their order in the list. Bytes that may be of several framings
   * are then most likely of this one. It is also the only kind of framing that keys are read with if there is no schema source: without a
   * source, any key of a user's own is likelier than a frame. (A message that carries its schema needs no source.)
   * @default false
   */
  readonly isAskedFirst?: boolean;
  /**
   * The frame of messages that name this schema, followed by `choice`: the bytes by which the payload chooses its message (no bytes, if the
   * schema has only one message). The fast path takes messages that begin with these bytes and compares no others. Null if the bytes after
   * them can change the meaning, or if such messages can hold several values.
   * @default messages of this framing take the slow path
   */
  frameBytesOf?(schemaId: SchemaId, choice: Buffer): Buffer | null;
  /**
   * Whether its messages are several texts, one after another. Each message then begins like a message with one text, so the framing is
   * asked after the first text was read and more text followed it.
   * @default false
   */
  readonly packsTexts?: boolean;
  /**
   * Whether its serializers leave out the length of an Avro value whose whole schema is bytes.
   * @default false
   */
  readonly writesBareBytes?: boolean;
}

/** A message without its frame. */
export interface Frame {
  /** The id to ask the schema source for; null if the message names no schema, or if `schema` is set. */
  readonly schemaId: SchemaId | null;
  /**
   * What the same bytes name if `schemaId` is not the schema that the message was written with: some serializers write one of two kinds of
   * numbers, and do not say which. It is asked for if `schemaId` does not exist, does not fit, or belongs to another topic.
   * @default the bytes name nothing else
   */
  readonly otherSchemaId?: SchemaId;
  /** The schema itself, if the message carries it. */
  readonly schema?: RegisteredSchema;
  /** The encoding of the payload, if the frame states one that differs from the schema's own encoding (Avro written as JSON). */
  readonly encoding?: EncodingName;
  /** Which of the schema's messages it is, if the frame states that. */
  readonly message?: MessageSelector;
  /** The same if the frame may mean several. They take no bytes of the payload, and count in place of those of `Framing.choices`. */
  readonly choices?: readonly MessageChoice[];
  /**
   * Whether other producers may write the same mark. If so, a message whose schema no source knows is read as if the mark were not there.
   * @default false for framings in headers. For framings in bytes: true for keys, which may be any bytes, and for a frame that begins with
   * a brace
   */
  readonly isAmbiguous?: boolean;
  /** The payload, in the bytes of the message or in unpacked bytes. There are several if one record holds several. */
  readonly payloads: readonly Payload[];
}

/** Consecutive values from `start` to `end`: one value, or many in a block of an Avro container file. */
export interface Payload {
  /** The bytes that hold the values, and others before and after them. */
  readonly bytes: Buffer;
  /** The index of the first byte. */
  readonly start: number;
  /** The index after the last byte. */
  readonly end: number;
  /** How many values stand there, one after another. */
  readonly count: number;
}

/** One message of a schema of several, as the first bytes of a payload choose it (Confluent's message indexes). */
export interface MessageChoice {
  /** The message that is chosen. */
  readonly message: MessageSelector;
  /** How many bytes of the payload the choice itself takes. */
  readonly length: number;
  /** The framing that writes choices like this, if the frame before the choice does not tell. */
  readonly framing?: FramingName;
}

/** Whether schemas of this type hold several messages. */
export function hasMessages(schemaType: SchemaType): boolean {
  return schemaType === "PROTOBUF";
}
