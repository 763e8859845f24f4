import type { Seeds } from "./corpus.ts";
import { record, sourceOf } from "./vector-seeds.ts";

/** Each kind of field, and no message that means more than its fields. */
export const peerSchema: string = `syntax = "proto3";
message Peer {
  int32 a = 1; int64 b = 2; uint32 c = 3; uint64 d = 4; sint32 e = 5; sint64 f = 6; fixed32 g = 7; fixed64 h = 8; sfixed32 i = 9;
  sfixed64 j = 10; float k = 11; double l = 12; bool m = 13; string n = 14; bytes o = 15; Kind p = 16; Peer q = 17;
  repeated int32 r = 18; repeated string s = 19; repeated Peer t = 20; map<string, int64> u = 21; map<int32, Peer> v = 22;
  oneof w { string x = 23; int32 y = 24; Peer z = 25; } repeated double aa = 26; repeated sint64 ab = 27 [packed = false];
  optional int32 ac = 28; repeated Kind ad = 29; map<bool, string> ae = 30;
}
enum Kind { NONE = 0; ONE = 1; MINUS = -1; }`;

export const peerTopic = "protobuf-peer";

/** What protobufjs 8.8.1 writes for values of each field: negative, beyond 2^53, nested, mapped, empty, two hundred letters. */
const messages: readonly string[] = [
  "",
  "CP///////////wEQgYCAgICAgBAY/////w8g////////////ASgJMP///////////wFoAXIGaMO2aGVy",
  "PQcAAABBAQAAAAAAIABN+f///1H//////////10AAMA/YZqZmZmZmbm/egIA/4ABAeABAA==",
  "igETCAGKAQ5yBGRlZXCiAQIIAaIBAJABAZAB/v//////////AZABrAKaAQCaAQFiogECCAGiAQIQAtEBAAAAAAAA8D/RAQAAAAAAAACA0QEAAAAAAADgPw==",
  "qgEFCgFhEAGqAQ0KABD+//////////8BqgEMCghfX3Byb3RvXxADsgEGCAESAggFsgENCP3//////////wESALoBBHRleHTYAQLYAQHoAQDoAQHoAf///////////wHyAQUIARIBdA==",
  "kAEAkAFNkAGaAZAB5wGQAbQCkAGBA5ABzgOQAZsEkAHoBJABtQWQAYIGkAHPBpABnAeQAekHkAG2CJABgwmQAdAJkAGdCpAB6gqQAbcLkAGEDJAB0QyQAZ4NkAHrDZABuA6QAYUPkAHSD5ABnxCQAewQkAG5EZABhhKQAdMSkAGgE5AB7ROQAboUkAGHFZAB1BWQAaEWkAHuFpABuxeQAYgYkAHVGJABohmQAe8ZkAG8GpABiRuQAdYbkAGjHJAB8ByQAb0dkAGKHpAB1x6QAaQfkAHxH5ABviCQAYshkAHYIZABpSKQAfIikAG/I5oByAFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYcABAA==",
  "ogEDygEAogEPsgEMCAASCKoBBQoBaxAJygEDwAED",
];

/** Messages whose mutants protobufjs can read too, field by field. */
export function protobufPeerSeeds(): Seeds {
  const head = Buffer.from([0, 0, 0, 0, 1, 0]);
  return {
    name: peerTopic,
    records: messages.map((message, i) => record(peerTopic, i, Buffer.concat([head, Buffer.from(message, "base64")]))),
    options: { schemas: sourceOf((id) => ({ id, schemaType: "PROTOBUF", schema: peerSchema })), values: { int64: "string" } },
  };
}
