import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsumer } from "@cdckit/consumer";
import type { Decoder } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { recording, type RecordingDriverOptions } from "./recording-driver.ts";
import { bundledRecording } from "./recordings.ts";

const { file } = bundledRecording("postgres-debezium-3.5/tjn.inv.nopk");
const topic = "tjn.inv.nopk";

/** The offsets that a consumer of the driver is given, up to so many. */
async function offsetsOf(options: RecordingDriverOptions, count: number): Promise<readonly bigint[]> {
  const offsets: bigint[] = [];
  let isEnough: () => void = () => {};
  const enough = new Promise<void>((resolve) => {
    isEnough = resolve;
  });
  const decoder: Pick<Decoder, "decodeAt"> = {
    decodeAt({ batch, record }) {
      offsets.push(batch.offsetAt(record));
      if (offsets.length === count) {
        isEnough();
      }
      return [];
    },
  };
  const consumer = createConsumer({
    driver: recording(options),
    groupId: "g",
    topics: [topic],
    decoder: decoder as Decoder,
    signals: false,
  });
  consumer.on("*", () => {});
  const running = consumer.run();
  await Promise.race([enough, running]);
  await consumer.stop();
  await running;
  return offsets;
}

describe("the recording driver", () => {
  test("hands over a recording's records with their own offsets", async () => {
    expect(await offsetsOf({ file }, 9)).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]);
  });

  test("plays it again behind itself", async () => {
    const offsets = await offsetsOf({ file: [file], repeat: 3, maxBatchRecords: 4 }, 27);
    expect(offsets).toEqual(Array.from({ length: 27 }, (_, i) => BigInt(i)));
  });

  test("plays a file with more partitions of a topic than the file before it has", async () => {
    const folder = await mkdtemp(join(tmpdir(), "recording-"));
    try {
      const lines = (await readFile(file, "utf8")).trim().split("\n");
      const later = lines.map((line) => JSON.stringify({ ...(JSON.parse(line) as object), partition: 2 })); // one object a line
      const more = join(folder, "more.ndjson");
      await writeFile(more, later.join("\n"));
      const offsets = await offsetsOf({ file: [file, more] }, 18);
      expect(offsets.toSorted((a, b) => Number(a - b))).toEqual(Array.from({ length: 18 }, (_, i) => BigInt(Math.floor(i / 2))));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("says which file it cannot read", async () => {
    await expect(offsetsOf({ file: "/nowhere.ndjson" }, 1)).rejects.toThrow("/nowhere.ndjson");
  });

  test("refuses to play less than once", () => {
    expect(() => recording({ file, repeat: 0 })).toThrow("repeat must be a positive integer");
  });
});
