import { type Decoder, type DecoderOptions, isDecodeError, type KafkaRecord, type SchemaSource } from "@cdckit/decode";
import protobufjs from "protobufjs";
import { canonical } from "./canonical.ts";
import type { Seeds } from "./corpus.ts";
import type { Peer } from "./peer.ts";
import { record, sourceOf } from "./vector-seeds.ts";

const topic = "protobuf-peer";
/** Each kind of field, and no message that means more than its fields. */
const schema = `syntax = "proto3";
message Peer {
  int32 a = 1; int64 b = 2; uint32 c = 3; uint64 d = 4; sint32 e = 5; sint64 f = 6; fixed32 g = 7; fixed64 h = 8; sfixed32 i = 9;
  sfixed64 j = 10; float k = 11; double l = 12; bool m = 13; string n = 14; bytes o = 15; Kind p = 16; Peer q = 17;
  repeated int32 r = 18; repeated string s = 19; repeated Peer t = 20; map<string, int64> u = 21; map<int32, Peer> v = 22;
  oneof w { string x = 23; int32 y = 24; Peer z = 25; } repeated double aa = 26; repeated sint64 ab = 27 [packed = false];
  optional int32 ac = 28; repeated Kind ad = 29; map<bool, string> ae = 30;
}
enum Kind { NONE = 0; ONE = 1; MINUS = -1; }`;

const type = protobufjs.parse(schema, new protobufjs.Root(), { keepCase: true }).root.lookupType("Peer");

const messages: readonly object[] = [
  {},
  { a: -1, b: "9007199254740993", c: 4_294_967_295, d: "18446744073709551615", e: -5, f: "-9223372036854775808", m: true, n: "h\u00f6her" },
  { g: 7, h: "9007199254740993", i: -7, j: "-1", k: 1.5, l: -0.1, o: Buffer.from([0, 255]), p: 1, ac: 0 },
  { q: { a: 1, q: { n: "deep", t: [{ a: 1 }, {}] } }, r: [1, -2, 300], s: ["", "b"], t: [{ a: 1 }, { b: "2" }], aa: [1, -0, 0.5] },
  { u: { a: "1", "": "-2", __proto_: "3" }, v: { 1: { a: 5 }, [-3]: {} }, x: "text", ab: ["1", "-1"], ad: [0, 1, -1], ae: { true: "t" } },
  { y: 0, r: Array.from({ length: 60 }, (_, i) => i * 77), s: ["a".repeat(200)] },
  { z: { y: 3 }, t: [{ z: {} }, { v: { 0: { u: { k: "9" } } } }] },
];

/** Messages that protobufjs writes: what its reader says of their mutants can be compared field by field. */
export function protobufPeerSeeds(): Seeds {
  const head = Buffer.from([0, 0, 0, 0, 1, 0]);
  return {
    name: topic,
    records: messages.map((message, i) => record(topic, i, Buffer.concat([head, type.encode(type.fromObject(message)).finish()]))),
    options: { schemas: sourceOf((id) => ({ id, schemaType: "PROTOBUF", schema })), values: { int64: "string" } },
  };
}

/** protobufjs is right about what it reads and writes back as the same bytes: it does not look at wire types. */
export function protobufPeer(schemas: SchemaSource, decoderFor: (options: DecoderOptions) => Decoder): Peer {
  const decoder = decoderFor({ schemas, values: { int64: "string" } });
  return (found) => {
    const { value } = found;
    const isOurs = value !== null && found.topic === topic && value.length > 5 && Buffer.from(value).readUIntBE(0, 6) === 256;
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
