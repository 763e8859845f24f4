import { type Decoder, type DecoderOptions, isDecodeError, type KafkaRecord, type SchemaSource } from "@cdckit/decode";
import protobufjs from "protobufjs";
import { canonical } from "./canonical.ts";
import type { Peer } from "./peer.ts";
import { peerSchema, peerTopic } from "./protobuf-peer-seeds.ts";

const type = protobufjs.parse(peerSchema, new protobufjs.Root(), { keepCase: true }).root.lookupType("Peer");

/** protobufjs is right about what it reads and writes back as the same bytes: it does not look at wire types. */
export function protobufPeer(schemas: SchemaSource, decoderFor: (options: DecoderOptions) => Decoder): Peer {
  const decoder = decoderFor({ schemas, values: { int64: "string" } });
  return (found) => {
    const { value } = found;
    const isOurs = value !== null && found.topic === peerTopic && value.length > 5 && Buffer.from(value).readUIntBE(0, 6) === 256;
    return isOurs ? compared(decoder, found) : null;
  };
}

function compared(decoder: Decoder, found: KafkaRecord): string | null {
  const theirs = readByPeer(Buffer.from(found.value ?? []).subarray(6));
  const ours = read(decoder, { ...found, key: null, headers: [] });
  if (theirs === null || ("code" in ours && ours.code === "limit-exceeded")) {
    return null;
  }
  if (!("value" in ours)) {
    return `protobufjs reads it and writes it back, we say ${ours.code}`;
  }
  const [our, their] = [canonical(plainly(ours.value)), canonical(plainly(theirs.value))];
  return our === their ? null : `protobufjs reads ${their.slice(0, 700)}\nwe read          ${our.slice(0, 700)}`;
}

function readByPeer(payload: Buffer): { readonly value: unknown } | null {
  try {
    const message = type.decode(payload);
    const value = type.toObject(message, { longs: String, enums: String, arrays: true, objects: true, defaults: true });
    return Buffer.from(type.encode(message).finish()).equals(payload) ? { value } : null;
  } catch {
    return null;
  }
}

function read(decoder: Decoder, found: KafkaRecord): { readonly value: unknown } | { readonly code: string } {
  try {
    const [event] = decoder.decode(found) as readonly { toObject(): Record<string, unknown> }[];
    return { value: event?.toObject()["row"] };
  } catch (error) {
    return { code: isDecodeError(error) ? error.code : "another error" };
  }
}

/** What is absent is null with us and no property with them. */
function plainly(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plainly);
  }
  if (typeof value === "symbol") {
    return "__debezium_unavailable_value";
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) {
    return value;
  }
  const entries: [string, unknown][] = value instanceof Map ? [...value].map(([key, part]) => [String(key), part]) : Object.entries(value);
  return Object.fromEntries(entries.filter(([, part]) => part !== null && part !== undefined).map(([name, part]) => [name, plainly(part)]));
}
