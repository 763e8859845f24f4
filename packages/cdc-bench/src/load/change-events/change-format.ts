import type { Envelope, EnvelopeKey } from "./envelope.ts";
import type { ChangeSource } from "./change-stream.ts";

/** A schema that a registry must have before a message can refer to it. */
export interface NeededSchema {
  readonly part: "key" | "value";
  readonly schemaType: "AVRO" | "PROTOBUF" | "JSON";
  readonly schema: string;
}

/** The ids that a registry gave. */
export interface SchemaIds {
  readonly key: number;
  readonly value: number;
}

/** Writes what a converter writes. */
export interface ChangeEncoder {
  key(key: EnvelopeKey): Buffer;
  value(envelope: Envelope): Buffer;
}

/** How a converter of Kafka Connect writes change events. */
export interface ChangeFormat {
  /** As flags and topics have it, such as `confluent-avro`. */
  readonly name: string;
  readonly title: string;
  /** What has to be registered; none if messages carry their schema, or have none. */
  schemas(source: ChangeSource): readonly NeededSchema[];
  /**
   * @param ids needed if there are schemas to register
   * @param takeBytes gives the buffers of the messages; without it each has one of its own
   */
  createEncoder(source: ChangeSource, ids: SchemaIds | null, takeBytes?: TakeBytes): ChangeEncoder;
}

/** Gives a buffer of so many bytes. What it holds is anything. */
export type TakeBytes = (size: number) => Buffer;

/** `text` between two pieces of a message that stay the same. They are copied as bytes: as text they would be encoded again for each message. */
export function textBetween(head: Uint8Array, text: string, tail: Uint8Array, takeBytes: TakeBytes): Buffer {
  const end = head.length + Buffer.byteLength(text);
  const bytes = takeBytes(end + tail.length);
  bytes.set(head);
  bytes.write(text, head.length);
  bytes.set(tail, end);
  return bytes;
}

/** Of messages that a schema registry is needed for: a zero, then the id. */
export function confluentPrefix(id: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(id, 1);
  return prefix;
}

/** The ids, of a format that cannot do without. */
export function idsFor(format: string, ids: SchemaIds | null): SchemaIds {
  if (ids === null) {
    throw new TypeError(`${format} refers to registered schemas, and their ids were not given`);
  }
  return ids;
}

/** `prefix.schema.table`, as the topic and the schemas are named. */
export function qualifiedName({ prefix, schema, table }: ChangeSource): string {
  return `${prefix}.${schema}.${table}`;
}
