import { type Duplex, Readable } from "node:stream";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import avro from "avsc";
import { describe, expect, test } from "vitest";
import { type Codec, isReadingCodec } from "./codec.ts";
import { testCodecContract } from "./codec-contract.ts";
import { listCodecs, rowCodecs } from "./codecs-of.ts";
import { createDataSet, type Row, seededDataSets } from "./data-sets.ts";
import { measureCodecs } from "./measure-codecs.ts";

const sets = Object.entries(seededDataSets).map(([name, set]) => createDataSet(name, set, 3, 7));

for (const set of sets) {
  const [first, second, ...rest] = set.rows as readonly [Row, Row, ...Row[]];
  describe(`${set.name}, object by object`, () => {
    for (const codec of rowCodecs(set.shape).flatMap((each) => (isReadingCodec(each) ? [] : [each]))) {
      testCodecContract({ describe, test, expect }, { codec, values: [first, second, ...rest] });
    }
  });
  describe(`${set.name}, the whole list`, () => {
    for (const codec of listCodecs(set.shape).flatMap((each) => (isReadingCodec(each) ? [] : [each]))) {
      testCodecContract({ describe, test, expect }, { codec, values: [set.rows, [second]] });
    }
  });
}

describe("the measurement", () => {
  const quickly = { rounds: 1, minMs: 0, interrupt: new AbortController().signal, onProgress: () => {} };

  test.each(sets.map((set) => [set.name, set] as const))("of %s has each codec, also those that only read", async (_, set) => {
    const rows = await measureCodecs({ codecs: rowCodecs(set.shape), values: set.rows, ...quickly });
    expect(rows.map(({ codec }) => codec)).toEqual(rowCodecs(set.shape).map(({ name }) => name));
    const lists = await measureCodecs({ codecs: listCodecs(set.shape), values: [set.rows], ...quickly });
    expect(lists.map(({ codec }) => codec)).toEqual(listCodecs(set.shape).map(({ name }) => name));
    for (const { codec, sizeBytes, write, read } of [...rows, ...lists]) {
      expect([codec, sizeBytes > 0, read.ms.median > 0]).toEqual([codec, true, true]);
      expect(write === null).toBe(codec.includes("reads"));
    }
  });

  test("refuses a codec that loses something", async () => {
    const lossy = { name: "lossy", serialize: () => Buffer.from("{}"), deserialize: () => ({}) };
    await expect(measureCodecs<Row>({ codecs: [lossy], values: [{ id: 1 }], ...quickly })).rejects.toThrow("lossy does not give back");
  });

  test("refuses a codec that gives back more rows than a list has", async () => {
    const longer: Codec<readonly Row[]> = { name: "longer", serialize: () => Buffer.of(1), deserialize: () => [{ id: 1 }, { id: 2 }] };
    await expect(measureCodecs({ codecs: [longer], values: [[{ id: 1 }]], ...quickly })).rejects.toThrow("longer does not give back");
  });

  test("counts what a codec allocates", async () => {
    const hungry = {
      name: "hungry",
      serialize: () => Buffer.alloc(8e6, 1),
      deserialize: () => ({ id: 1 }),
    };
    const [measured] = await measureCodecs<Row>({ codecs: [hungry], values: [{ id: 1 }], ...quickly });
    expect(measured?.write?.allocation.bytes).toBeGreaterThan(7.9e6);
    expect(measured?.read.allocation.bytes).toBeLessThan(1e6);
  });

  test("that is interrupted in the middle of a long pass ends there", async () => {
    const interrupt = new AbortController();
    let written = 0;
    const slow: Codec<number> = {
      name: "slow",
      serialize: (value) => {
        const until = performance.now() + 1;
        while (performance.now() < until);
        written++;
        setImmediate(() => interrupt.abort()); // heard in the event loop's next turn, as Ctrl-C is
        return Buffer.of(value);
      },
      deserialize: (bytes) => bytes[0] as number,
    };
    const values = Array.from({ length: 100_000 }, (_, i) => i % 256);
    expect(await measureCodecs({ codecs: [slow], values, ...quickly, interrupt: interrupt.signal })).toEqual([]);
    expect(written).toBeLessThan(values.length / 10);
  });

  // Without an interrupt there are ten calls: a list is written, read and compared, and then written and read in each round and counted.
  test.each([1, 2, 5, 7, 8, 9])("that is interrupted in call %i of what works on a whole list ends after it", async (last) => {
    const interrupt = new AbortController();
    let calls = 0;
    const count = (): null => {
      if (++calls === last) {
        setImmediate(() => interrupt.abort());
      }
      return null;
    };
    const row = { toJSON: count }; // called when it is compared
    const list: Codec<readonly object[]> = {
      name: "list",
      serialize: () => {
        count();
        return Buffer.of(1);
      },
      deserialize: () => {
        count();
        return [row];
      },
    };
    expect(await measureCodecs({ codecs: [list], values: [[row]], ...quickly, interrupt: interrupt.signal })).toEqual([]);
    expect(calls).toBe(last);
  });

  test("that is interrupted while a long list is compared ends there", async () => {
    const interrupt = new AbortController();
    let compared = 0;
    const slow = {
      toJSON: () => {
        const until = performance.now() + 1;
        while (performance.now() < until);
        compared++;
        setImmediate(() => interrupt.abort());
        return null;
      },
    };
    const rows = Array.from({ length: 2_000 }, () => slow);
    const list: Codec<readonly object[]> = { name: "list", serialize: () => Buffer.of(1), deserialize: () => rows };
    expect(await measureCodecs({ codecs: [list], values: [rows], ...quickly, interrupt: interrupt.signal })).toEqual([]);
    expect(compared).toBeLessThan(rows.length / 5);
  });

  test("that is interrupted gives what it has", async () => {
    const interrupt = AbortSignal.abort();
    expect(await measureCodecs({ codecs: rowCodecs(sets[0]!.shape), values: sets[0]!.rows, ...quickly, interrupt })).toEqual([]);
  });
});

describe("the bytes, as readers see them that are not ours", () => {
  const soa = sets.find(({ name }) => name === "soa")!;
  const codecs = listCodecs(soa.shape).flatMap((each) => (isReadingCodec(each) ? [] : [each]));
  const bytesOf = async (name: string): Promise<Buffer> =>
    Buffer.from(await codecs.find((codec) => codec.name === name)!.serialize(soa.rows));
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

  test.each([
    ["json, gzip", gunzipSync],
    ["json, brotli 4", brotliDecompressSync],
  ] as const)("%s is JSON, compressed as zlib does it", async (name, inflate) => {
    expect(inflate(await bytesOf(name)).toString()).toBe(JSON.stringify(soa.rows));
  });

  // avsc reads blocks without and with deflate by itself.
  test.each(["avro, container (avsc)", "avro, deflate (avsc)", "avro, container (avsc), gzip"])("%s is a container file", async (name) => {
    const bytes = await bytesOf(name);
    const file = name.endsWith("gzip") ? gunzipSync(bytes) : bytes;
    expect(file.subarray(0, 4).toString("latin1")).toBe("Obj\x01");
    const decoder = new avro.streams.BlockDecoder() as unknown as Duplex;
    expect(plain(await Readable.from([file]).pipe(decoder).toArray())).toEqual(plain(soa.rows));
  });
});
