import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRecordingError } from "./recording-error.ts";
import { loadRecording, readRecording } from "./recording.ts";
import { bundledRecording, bundledRecordings } from "./recordings.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "recording-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function fileOf(name: string, content: string | Buffer): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

async function failureOf(file: string): Promise<unknown> {
  return loadRecording(file).then(
    () => undefined,
    (error: unknown) => error,
  );
}

const line = (offset: number): string => `{"topic":"t","partition":0,"offset":${offset},"key":null,"value":"AQ=="}`;

describe("the bundled recordings", () => {
  test("are all readable", async () => {
    for (const recording of bundledRecordings()) {
      expect((await loadRecording(recording.file)).length, recording.name).toBeGreaterThan(0);
    }
  });

  test.each(["json-with-schema", "json", "confluent-avro"])("salesorderdetail/%s holds 2,000 rows", async (format) => {
    expect(await loadRecording(bundledRecording(`salesorderdetail/${format}`).file)).toHaveLength(2_000);
  });

  test("are called by name, and a wrong name is answered with the right ones", () => {
    expect(() => bundledRecording("nothing")).toThrow("salesorderdetail/json");
  });
});

describe("a recording", () => {
  test("is read in its order, with or without a last newline, blank lines aside", async () => {
    for (const end of ["", "\n", "\r\n\r\n"]) {
      const records = await loadRecording(await fileOf("order.ndjson", `${line(1)}\n\n${line(2)}${end}`));
      expect(records.map((record) => record.offset)).toEqual([1n, 2n]);
    }
  });

  test("is unpacked when its bytes are gzip, whatever its name", async () => {
    expect(await loadRecording(await fileOf("packed.txt", gzipSync(`${line(1)}\n`)))).toHaveLength(1);
  });

  test("of no bytes has no records", async () => {
    expect(await loadRecording(await fileOf("empty.ndjson", ""))).toEqual([]);
  });

  test("may be left in the middle", async () => {
    const file = await fileOf("long.ndjson", `${line(1)}\n`.repeat(100_000));
    for await (const record of readRecording(file)) {
      expect(record.offset).toBe(1n);
      break;
    }
  });

  test("with a broken line yields the records before it and then names the line", async () => {
    const file = await fileOf("broken.ndjson", `${line(1)}\n{"topic":\n${line(3)}\n`);
    const seen: bigint[] = [];
    const reading = async (): Promise<void> => {
      for await (const record of readRecording(file)) {
        seen.push(record.offset);
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: "malformed-line", line: 2, message: expect.stringContaining("line 2 of") });
    expect(seen).toEqual([1n]);
  });

  test.each([
    ["is missing", async () => join(folder, "nowhere.ndjson"), "there is no such file"],
    ["is a folder", async () => folder, "it is a folder"],
    ["has damaged gzip", async () => fileOf("damaged.gz", Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 255, 255])), "damaged"],
    ["has gzip that ends early", async () => fileOf("short.gz", gzipSync(line(1)).subarray(0, 30)), "ends too early"],
  ])("that %s is answered with a sentence", async (_case, make, said) => {
    const error = await failureOf(await make());
    expect(isRecordingError(error)).toBe(true);
    expect(error).toMatchObject({ code: "unreadable", message: expect.stringContaining(said) });
  });
});
