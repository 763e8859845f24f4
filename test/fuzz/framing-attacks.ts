import { deflateRawSync, deflateSync } from "node:zlib";
import type { Attack } from "./attacks.ts";
import { sourceOf } from "./vector-seeds.ts";

const mib = 2 ** 20;

/** Few bytes that become many: what is known of framings whose payload is packed. */
export function framingAttacks(): readonly Attack[] {
  const glue = (payload: Buffer): Buffer => Buffer.concat([Buffer.from(`0305${"ab".repeat(16)}`, "hex"), payload]);
  const int = sourceOf((id) => ({ id, schemaType: "AVRO", schema: '"int"' }));
  const schemas = sourceOf((id) => ({ id, schemaType: "AVRO", schema: '{"type":"array","items":"long"}' }));
  const zeros = Buffer.alloc(256 * mib);
  const cases: Readonly<Record<string, Attack["value"]>> = {
    "Glue: a zip bomb": glue(deflateSync(zeros, { level: 9 })),
    "Glue: zlib of a MiB that does not pack": glue(deflateSync(noise(mib))),
    "container file: a zip bomb": file("deflate", block(1, deflateRawSync(zeros, { level: 9 }))),
    "container file: a million empty blocks": file("null", ...Array.from({ length: 55_000 }, () => block(0, Buffer.alloc(0)))),
    "container file: a million items of no bytes": file("null", block(2 ** 40, Buffer.alloc(0)), '"null"'),
    "container file: blocks of one int": file("null", ...Array.from({ length: 50_000 }, () => block(1, Buffer.from([2])))),
    "container file: a snappy block that states four gigabytes": file("snappy", block(1, Buffer.from("ffffffff0f00000000000000", "hex"))),
    "container file: metadata of a million names": metadata(),
    "Confluent: Protobuf indexes without an end": Buffer.concat([Buffer.from("0000000001feffffffff0f", "hex"), Buffer.alloc(mib, 0x80)]),
    "Confluent: a million message indexes": Buffer.concat([Buffer.from("000000000180897a", "hex"), Buffer.alloc(mib, 0)]),
  };
  return Object.entries(cases).map(([name, value]) => ({
    name,
    value,
    schemas: name.startsWith("Confluent")
      ? sourceOf((id) => ({ id, schemaType: "PROTOBUF", schema: 'syntax = "proto3"; message M { int32 a = 1; }' }))
      : name.includes("does not pack")
        ? int
        : schemas,
  }));
}

/** Bytes without a pattern. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

const sync = Buffer.alloc(16, 7);

function file(codec: string, ...blocks: readonly (Buffer | string)[]): Buffer {
  const schema = blocks.find((part) => typeof part === "string") ?? '"int"';
  const entries = [
    ["avro.schema", schema],
    ["avro.codec", codec],
  ].flatMap(([name = "", text = ""]) => [zigZag(name.length), Buffer.from(name), zigZag(text.length), Buffer.from(text)]);
  const bytes = blocks.filter((part) => typeof part !== "string");
  return Buffer.concat([Buffer.from("Obj\u0001"), zigZag(2), ...entries, zigZag(0), sync, ...bytes]);
}

function metadata(): Buffer {
  const names = Array.from({ length: 130_000 }, (_, i) => Buffer.from(`\u000a${i.toString(36).padStart(5, "0")}\u0000`));
  return Buffer.concat([Buffer.from("Obj\u0001"), zigZag(names.length), ...names, zigZag(0), sync]);
}

function block(count: number, bytes: Buffer): Buffer {
  return Buffer.concat([zigZag(count), zigZag(bytes.length), bytes, sync]);
}

function zigZag(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value) * 2n;
  for (; rest > 127n; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | 128);
  }
  return Buffer.from([...bytes, Number(rest)]);
}
