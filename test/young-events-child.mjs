/**
 * Decodes records while their events are held over young collections, and then without holding any. Prints how many bytes of each later
 * record went to the old generation. Started with `--expose-gc` and the flags of `young-events.test.ts`, and with the name of a recording, or
 * with an envelope and the name of one of its vectors.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { getHeapSpaceStatistics } from "node:v8";
import { createDecoder } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording, recordOf } from "@cdckit/testkit";

const [, , name, vectorName] = process.argv;
const isVector = vectorName !== undefined;

const heldTogether = 150;
const heldRecords = isVector ? 15_000 : 60_000; // one record, again and again, has all of its code soon
const laterRecords = isVector ? 60_000 : 200_000;
const recordsPerLook = 2_000;

const { records, schemas } = isVector ? vector() : await recording();
const decoder = createDecoder({ schemas });
await decoder.decode(records[0]); // loads its schemas. No more of them: V8 decides by the first ones

for (let done = 0; done < heldRecords; done += heldTogether) {
  const held = [];
  for (let i = done; i < done + heldTogether; i++) {
    held.push(decoder.decode(records[i % records.length]));
  }
  globalThis.gc({ type: "minor" });
  if (held.length !== heldTogether) {
    throw new Error("what was held must be in use after the collection");
  }
}

let [promotedBytes, before, events] = [0, oldBytes(), 0];
for (let i = 0; i < laterRecords; i++) {
  events += decoder.decode(records[i % records.length]).length;
  if (i % recordsPerLook === 0) {
    const now = oldBytes();
    promotedBytes += Math.max(0, now - before);
    before = now;
  }
}
process.stdout.write(JSON.stringify({ promotedBytesPerRecord: promotedBytes / laterRecords, events }));

function oldBytes() {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space").space_used_size;
}

async function recording() {
  const { file, schemasFile } = bundledRecording(name);
  return { records: await loadRecording(file), schemas: fromBundle(schemasFile) };
}

function vector() {
  const file = fileURLToPath(new URL(`vectors/envelope/${name}.ndjson`, import.meta.url));
  const lines = readFileSync(file, "utf8").split("\n");
  const found = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  const { value, topic, key, headers, schemas = [] } = found.find((one) => one.name === vectorName);
  const byId = new Map(schemas.map(({ id, schema }) => [id, { id, schemaType: "AVRO", schema: JSON.stringify(schema) }]));
  return { records: [recordOf(value, { topic, key, headers })], schemas: { peek: (id) => byId.get(id), load: async (id) => byId.get(id) } };
}
