import { DecodeError } from "../../errors.ts";
import type { EncodingName } from "../../event.ts";
import type { ApicurioIdSpace } from "../../options.ts";
import type { RecordHeaders } from "../../record.ts";
import type { RegisteredSchema, SchemaId } from "../../schema-source.ts";
import type { Frame, Framing, Message, Side } from "../framing.ts";
import { inlineSchema } from "../inline-schema.ts";
import { lastHeader, lastHeaderText } from "../last-header.ts";
import { idKey, jsonEnvelopeId, jsonPayloadStart } from "./json-envelope.ts";
import { messageChoices, typeRef } from "./type-ref.ts";

/** Magic byte and an id of eight bytes. */
const longFrameLength = 9;
const longFramePrefix: Buffer = Buffer.alloc(5);

/**
 * Apicurio's ids of eight bytes: `00 | id: int64, big-endian | payload`. Taken where the first four bytes of the id are zero, as its
 * OptimisticFallbackIdHandler takes them; the form with four bytes is Confluent's.
 *
 * Nothing says which kind of id it is. Global ids unless said otherwise: version 2 of Apicurio's serializers writes eight bytes and global
 * ids by default, version 3 writes four, and eight only where it is told to.
 */
export function apicurioWith(longIds: ApicurioIdSpace): Framing {
  return {
    name: "apicurio",
    headerNames: [],
    recognise: ({ bytes, start, end }) => longIdEvidence(bytes, start, end),
    open: ({ bytes, start, end }) => ({
      schemaId: `${longIds}:${bytes.readBigUInt64BE(start + 1)}`,
      payloads: [{ bytes, start: start + longFrameLength, end, count: 1 }],
    }),
    choices: messageChoices,
    prefixes: [longFramePrefix],
  };
}

export const apicurio: Framing = apicurioWith("globalId");

/**
 * Apicurio's ids in headers, and schemas shipped in one: the message is the payload, after the name of its type if it is Protobuf.
 * `jsonEncoding`: what values are written in if a header says that Avro is written as JSON.
 */
export function apicurioHeaderWith(jsonEncoding: EncodingName): Framing {
  return {
    name: "apicurio",
    headerNames: sidesOf("globalId", "contentId", "contentHash", "artifactId", "schema"),
    recognise: ({ headers, side }) => {
      const name = namingHeader(headers, side);
      return name === null ? null : `header ${name}`;
    },
    open: (message) => openHeaders(message, jsonEncoding),
    choices: messageChoices,
  };
}

/**
 * Apicurio's ExtJsonConverter: `{"schemaId":<content id>,"payload":<JSON>}`, whose schema is Kafka Connect's. A row of a user may look the
 * same; then no registry knows its id.
 */
export const apicurioJson: Framing = {
  name: "apicurio",
  headerNames: [],
  recognise: ({ bytes, start, end }) => {
    const id = jsonEnvelopeId(bytes, start, end);
    return id === null ? null : `exactly the fields schemaId and payload, and the content id ${id}`;
  },
  open: ({ bytes, start, end }) => ({
    schemaId: `contentId:${jsonEnvelopeId(bytes, start, end)}`,
    payloads: [{ bytes, start: jsonPayloadStart(bytes, start, end), end: end - 1, count: 1 }],
  }),
  prefixes: [idKey],
};

function longIdEvidence(bytes: Buffer, start: number, end: number): string | null {
  if (end - start < longFrameLength || bytes[start] !== 0 || bytes.readUInt32BE(start + 1) !== 0) {
    return null;
  }
  const id = bytes.readUInt32BE(start + 5);
  // No id is 0: a nil UUID, most likely.
  return id === 0 ? null : `byte 0 is 00, then the 8-byte id ${id}, where Confluent's ids begin at 1`;
}

function sidesOf(...names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [`apicurio.key.${name}`, `apicurio.value.${name}`]);
}

function namingHeader(headers: RecordHeaders, side: Side): string | null {
  const prefix = `apicurio.${side}.`;
  const names = ["globalId", "contentId", "contentHash", "artifactId"].map((name) => prefix + name);
  const found = names.find((name) => lastHeader(headers, name) !== null);
  return found ?? (shippedSchema(headers, side) === null ? null : `${prefix}schema`);
}

function openHeaders({ bytes, start, end, headers, side }: Message, jsonEncoding: EncodingName): Frame {
  const schema = shippedSchema(headers, side);
  const schemaId = schema === null ? idInHeaders(headers, `apicurio.${side}.`) : null;
  const isJson = lastHeaderText(headers, `apicurio.${side}.encoding`) === "JSON";
  const type = lastHeaderText(headers, side === "key" ? "apicurio.protobuf.type.key" : "apicurio.protobuf.type");
  return {
    schemaId,
    ...(schema === null ? {} : { schema }),
    ...(isJson ? { encoding: jsonEncoding } : {}),
    // Where the payload names its type as well, its choices say so, and how long the name is.
    ...(type === null || typeRef(bytes, start, end) !== null ? {} : { message: { kind: "name", name: type } }),
    payloads: [{ bytes, start, end, count: 1 }],
  };
}

/** The schema that a producer ships beside the message (`use-schema-from-headers`), where its type is one that we read. */
function shippedSchema(headers: RecordHeaders, side: Side): RegisteredSchema | null {
  const text = lastHeader(headers, `apicurio.${side}.schema`);
  const schemaType = lastHeaderText(headers, `apicurio.${side}.schemaType`);
  if (text === null || (schemaType !== "AVRO" && schemaType !== "JSON" && schemaType !== "PROTOBUF")) {
    return null;
  }
  return inlineSchema(schemaType, text);
}

function idInHeaders(headers: RecordHeaders, prefix: string): SchemaId {
  for (const space of ["globalId", "contentId"]) {
    const value = lastHeader(headers, prefix + space);
    if (value !== null) {
      return `${space}:${longIn(value, prefix + space)}`;
    }
  }
  const hash = lastHeaderText(headers, `${prefix}contentHash`);
  if (hash !== null) {
    return `contentHash:${hash}`;
  }
  const [groupId = "default", artifactId, version] = ["groupId", "artifactId", "version"].map(
    (name) => lastHeaderText(headers, prefix + name) ?? undefined,
  );
  if (artifactId === undefined || version === undefined) {
    throw new DecodeError(
      "unsupported-format",
      `expected Apicurio's headers to name one version of a schema, found an artifact without a version, whose schema changes: ` +
        "set apicurio.registry.use-id=contentId on the serializer",
    );
  }
  return `artifact:${[groupId, artifactId, version].map(encodeURIComponent).join("/")}`;
}

function longIn(value: Buffer, name: string): bigint {
  if (value.length !== 8) {
    throw new DecodeError(
      "malformed",
      `expected header ${name} to hold an id of 8 bytes, found ${value.length}: a client that makes text of headers breaks it, keep them as bytes`,
    );
  }
  return value.readBigInt64BE(0);
}
