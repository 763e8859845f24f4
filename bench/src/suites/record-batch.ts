import { createRecordSetReader, crc32c, crc32cInScript, decompress } from "@cdckit/record-batch";
import { decompress as unzstdByFzstd } from "fzstd";
import lz4 from "lz4-napi";
import snappy from "snappy";
import snappyjs from "snappyjs";
import { ZSTDDecoder } from "zstddec";
import * as zlib from "node:zlib";
import { loadCorpus } from "../corpus.ts";
import { environment } from "../environment.ts";
import { type Contender, type Measured, measure } from "../measure.ts";
import { checkedFrom, readByKafkaJs, recordsFrom, writeBatches } from "../record-batches.ts";

const batchBytes = 256 * 1024;

interface SuiteOptions {
  readonly rounds: number;
  readonly roundMs: number;
}

/** The zlib of Node 22.15 and later. The types here are Node 20's. */
const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as {
  readonly zstdCompressSync?: (bytes: Buffer) => Buffer;
  readonly zstdDecompressSync?: (bytes: Buffer) => Buffer;
};

/** What reading record batches costs, by its parts, beside what else does the same work. */
export async function runRecordBatch(options: SuiteOptions): Promise<{ text: string; result: object }> {
  await inWasm.init();
  const lines: string[] = [];
  const cases: object[] = [];
  for (const name of ["json-with-schema", "json", "confluent-avro"] as const) {
    const { records } = await loadCorpus(name);
    const batches = await writeBatches(records, batchBytes);
    const bytes = batches.reduce((sum, batch) => sum + batch.length, 0);
    lines.push(`${name}: ${records.length} records, ${batches.length} batches, ${Math.round(bytes / records.length)} bytes a record`);
    for (const [what, contenders] of [
      ["read", reads(batches, records.length)],
      ["checksum", checksums(batches, records.length)],
      ...decompressions(Buffer.concat(batches.map((batch) => batch.subarray(recordsFrom))), records.length),
    ] as const) {
      const measured = await measure(contenders, { ...options, warmUpRounds: 2 });
      lines.push(...measured.map((one) => `  ${what}, ${lineOf(one, bytes / records.length)}`));
      cases.push({ corpus: name, what, records: records.length, bytes, batches: batches.length, measured });
    }
  }
  return { text: ["record-batch", ...lines].join("\n"), result: { environment: environment(), batchBytes, cases } };
}

function reads(batches: readonly Buffer[], messages: number): readonly Contender[] {
  const bytes = Buffer.concat(batches);
  return [
    { name: "ours, with checksums", messages, pass: () => valueBytes(bytes, true) },
    { name: "ours, without checksums", messages, pass: () => valueBytes(bytes, false) },
    { name: "ours, walked again after it was opened", messages, pass: walkAgain(bytes) },
    { name: "kafkajs, without checksums", messages, pass: () => readByKafkaJs(batches) },
  ];
}

function openedSets(bytes: Buffer, checkCrcs: boolean) {
  const fetched = { topic: "rows", partition: 0, assignment: null, bytes, fromOffset: 0n, abortedTransactions: [], highWatermark: null };
  return createRecordSetReader(fetched, { checkCrcs });
}

function valueBytes(bytes: Buffer, checkCrcs: boolean): number {
  const reader = openedSets(bytes, checkCrcs);
  let total = 0;
  for (let set = reader.read(); set !== null; set = reader.read()) {
    for (const walk = set.walk(); walk.next(); ) {
      total += walk.valueEnd - walk.valueStart;
    }
  }
  return total;
}

function walkAgain(bytes: Buffer): () => number {
  const reader = openedSets(bytes, false);
  const sets = Array.from({ length: 1_000 }, () => reader.read()).filter((set) => set !== null);
  return () => {
    let total = 0;
    for (const set of sets) {
      for (const walk = set.walk(); walk.next(); ) {
        total += walk.valueEnd - walk.valueStart;
      }
    }
    return total;
  };
}

function checksums(batches: readonly Buffer[], messages: number): readonly Contender[] {
  const pass = (checksum: (batch: Buffer) => number) => () => batches.reduce((sum, batch) => sum + checksum(batch), 0);
  return [
    { name: "with @node-rs/crc32, native", messages, pass: pass((batch) => crc32c(batch, checkedFrom, batch.length)) },
    { name: "without it", messages, pass: pass((batch) => crc32cInScript(batch, checkedFrom, batch.length)) },
  ];
}

const inWasm = new ZSTDDecoder();

/** Each compression by what this package uses, and by what it could use. One block of all records, as large as a large fetch. */
function decompressions(records: Buffer, messages: number): readonly (readonly [what: string, contenders: readonly Contender[]])[] {
  const pass = (read: () => Uint8Array) => () => read().length;
  const packed = { gzip: zlib.gzipSync(records), snappy: snappyBlocks(records), lz4: Buffer.from(lz4.compressFrameSync(records)) };
  const xerial = xerialOf(packed.snappy);
  const zstd = zstdCompressSync?.(records);
  return [
    ["gzip", [{ name: "ours: Node's zlib", messages, pass: pass(() => decompress("gzip", packed.gzip)) }]],
    [
      "snappy",
      [
        { name: "ours", messages, pass: pass(() => decompress("snappy", xerial)) },
        {
          name: "snappy, native",
          messages,
          pass: pass(() => Buffer.concat(packed.snappy.map((block) => snappy.uncompressSync(block) as Buffer))),
        },
        { name: "snappyjs", messages, pass: pass(() => Buffer.concat(packed.snappy.map((block) => snappyjs.uncompress(block)))) },
      ],
    ],
    [
      "lz4",
      [
        { name: "ours", messages, pass: pass(() => decompress("lz4", packed.lz4)) },
        { name: "lz4-napi, native", messages, pass: pass(() => lz4.decompressFrameSync(packed.lz4)) },
      ],
    ],
    ...(zstd === undefined || zstdDecompressSync === undefined
      ? []
      : ([
          [
            "zstd",
            [
              { name: "ours: Node's zlib", messages, pass: pass(() => decompress("zstd", zstd)) },
              { name: "zstddec in WebAssembly, ours before Node 22.15", messages, pass: pass(() => inWasm.decode(zstd, records.length)) },
              { name: "fzstd", messages, pass: pass(() => unzstdByFzstd(zstd)) },
            ],
          ],
        ] as const)),
  ];
}

/** Blocks of 32 KiB, as snappy-java makes them. */
function snappyBlocks(records: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(records.length / 32_768) }, (_, i) =>
    snappyjs.compress(records.subarray(i * 32_768, (i + 1) * 32_768)),
  );
}

function xerialOf(blocks: readonly Buffer[]): Buffer {
  const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
  const framed = blocks.flatMap((block) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(block.length);
    return [length, block];
  });
  return Buffer.concat([header, ...framed]);
}

function lineOf({ name, medianNs, minNs, maxNs }: Measured, bytesPerRecord: number): string {
  const rate = `${(bytesPerRecord / medianNs).toFixed(2)} GB/s, ${(1e3 / medianNs).toFixed(2)} million records/s`;
  return `${name}: ${medianNs.toFixed(0)} ns a record (${minNs.toFixed(0)} to ${maxNs.toFixed(0)}), ${rate}`;
}
