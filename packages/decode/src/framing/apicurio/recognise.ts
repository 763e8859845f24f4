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

/** A magic byte and an id of eight bytes. */
const longFrameLength = 9;
const longFramePrefix: Buffer = Buffer.alloc(5);

/**
 * Apicurio's frame with an id of eight bytes: `00 | id: int64, big-endian | payload`. A message is taken only if the first four bytes of
 * the id are zero, as in Apicurio's OptimisticFallbackIdHandler. The form with an id of four bytes is Confluent's.
 *
 * Nothing in the message says whether the id is a global id or a content id. Unless the user says it, the global id is tried first: version 2
 * of Apicurio's serializers writes eight bytes and global ids by default, and version 3 writes eight bytes only if it is configured to.
 */
export function apicurioWith(space: ApicurioIdSpace | null): Framing {
  return {
    name: "apicurio",
    headerNames: [],
    recognise: ({ bytes, start, end }) => longIdEvidence(bytes, start, end),
    open: ({ bytes, start, end }) => ({
      ...idsIn(space, "globalId", String(bytes.readBigUInt64BE(start + 1))),
      payloads: [{ bytes, start: start + longFrameLength, end, count: 1 }],
    }),
    choices: messageChoices,
    prefixes: [longFramePrefix],
  };
}

export const apicurio: Framing = apicurioWith(null);

/**
 * Apicurio's ids in headers, and schemas that a header carries. The message is the payload, after the name of its type if the schema is
 * Protobuf. `jsonEncoding` is the encoding of values if a header says that Avro is written as JSON.
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
 * Apicurio's ExtJsonConverter: `{"schemaId":<id>,"payload":<JSON>}`, with a schema of Kafka Connect. A user's row may have the same two
 * fields. In that case no registry knows its id. Version 2 of the converter writes global ids, and version 3 content ids. Unless the user says
 * which, the content id is tried first.
 */
export function apicurioJsonWith(space: ApicurioIdSpace | null): Framing {
  return {
    name: "apicurio",
    headerNames: [],
    recognise: ({ bytes, start, end }) => {
      const id = jsonEnvelopeId(bytes, start, end);
      return id === null ? null : `exactly the fields schemaId and payload, and the id ${id}`;
    },
    open: ({ bytes, start, end }) => ({
      ...idsIn(space, "contentId", String(jsonEnvelopeId(bytes, start, end))),
      payloads: [{ bytes, start: jsonPayloadStart(bytes, start, end), end: end - 1, count: 1 }],
    }),
    prefixes: [idKey],
  };
}

export const apicurioJson: Framing = apicurioJsonWith(null);

/** The ids that a number may stand for: one, if the user says of which kind it is. */
function idsIn(space: ApicurioIdSpace | null, likely: ApicurioIdSpace, id: string): Pick<Frame, "schemaId" | "otherSchemaId"> {
  const other = likely === "globalId" ? "contentId" : "globalId";
  return space === null ? { schemaId: `${likely}:${id}`, otherSchemaId: `${other}:${id}` } : { schemaId: `${space}:${id}` };
}

function longIdEvidence(bytes: Buffer, start: number, end: number): string | null {
  if (end - start < longFrameLength || bytes[start] !== 0 || bytes.readUInt32BE(start + 1) !== 0) {
    return null;
  }
  const id = bytes.readUInt32BE(start + 5);
  // Ids begin at 1. Nine or more zero bytes are most likely a nil UUID.
  return id === 0 ? null : `byte 0 is 00, then the 8-byte id ${id}; as Confluent's 4-byte id it would be 0, and those begin at 1`;
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
    // If the payload names its type too, `choices` reads the name there, because only `choices` says how many bytes the name takes.
    ...(type === null || typeRef(bytes, start, end) !== null ? {} : { message: { kind: "name", name: type } }),
    payloads: [{ bytes, start, end, count: 1 }],
  };
}

/** The schema that a producer sends in a header (`use-schema-from-headers`). Null if there is none, or if we cannot read its type. */
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
      `expected Apicurio's headers to name one version of a schema, found an artifact without a version; ` +
        "set apicurio.registry.use-id=contentId on the serializer",
    );
  }
  return `artifact:${[groupId, artifactId, version].map(encodeURIComponent).join("/")}`;
}

function longIn(value: Buffer, name: string): bigint {
  if (value.length !== 8) {
    throw new DecodeError(
      "malformed",
      `expected header ${name} to hold an id of 8 bytes, found ${value.length} bytes; ` +
        "if the Kafka client converts headers to text, configure it to keep them as bytes",
    );
  }
  return value.readBigInt64BE(0);
}
