/**
 * Decodes Avro container files, each with a schema of its own. Prints how many events they had, and the bytes of the files. Started by
 * `carried-schemas.test.ts`, with a small heap.
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import { createDecoder } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";

const files = 60;
const symbols = 60_000;

function long(value) {
  const bytes = [];
  for (let bits = value * 2; ; bits = Math.floor(bits / 128)) {
    bytes.push(bits >= 128 ? (bits % 128) | 128 : bits);
    if (bits < 128) {
      return Buffer.from(bytes);
    }
  }
}

function sized(content) {
  const bytes = Buffer.from(content);
  return Buffer.concat([long(bytes.length), bytes]);
}

/** A container file with one row, which has the first symbol. */
function file(schema) {
  const marker = Buffer.alloc(16, 7);
  const header = [Buffer.from("Obj\u0001", "latin1"), long(1), sized("avro.schema"), sized(schema), long(0), marker];
  return Buffer.concat([...header, long(1), sized(long(0)), marker]);
}

function schemaOf(i) {
  const names = Array.from({ length: symbols }, (_, j) => `s${i}_${j}`);
  return JSON.stringify({ type: "record", name: `R${i}`, fields: [{ name: "id", type: { type: "enum", name: "E", symbols: names } }] });
}

const decoder = createDecoder();
let [events, bytes] = [0, 0];
for (let i = 0; i < files; i++) {
  const value = file(schemaOf(i));
  const [event] = await decoder.decode(recordOf(value, { topic: "files" }));
  events += event.row.id === `s${i}_0` ? 1 : 0;
  bytes += value.length;
}
process.stdout.write(JSON.stringify({ events, bytes }));
