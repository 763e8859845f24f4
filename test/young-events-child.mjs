/**
 * Decodes a recording while its events are held over young collections, and then without holding any. Prints how many bytes of each later
 * record went to the old generation. Started with `--expose-gc` and the flags of `young-events.test.ts`.
 */
import process from "node:process";
import { getHeapSpaceStatistics } from "node:v8";
import { createDecoder } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording } from "@cdckit/testkit";

const heldTogether = 150;
const heldRecords = 60_000;
const laterRecords = 200_000;
const recordsPerLook = 2_000;

const { file, schemasFile } = bundledRecording(process.argv[2]);
const records = await loadRecording(file);
const decoder = createDecoder({ schemas: fromBundle(schemasFile) });
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
