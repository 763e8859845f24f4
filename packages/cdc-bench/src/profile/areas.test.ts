import { describe, expect, test } from "vitest";
import type { ProfileArea } from "../result/profile-frame.ts";
import { areaOf } from "./areas.ts";

const repository = "file:///home/me/cdckit/packages";
const installed = "file:///srv/app/node_modules";

describe("what a function's time is for", () => {
  test.each<[ProfileArea, string, string]>([
    ["gc", "(garbage collector)", ""],
    ["idle", "(idle)", ""],
    ["other", "(program)", ""],
    ["decode", "readRecord", `${repository}/decode/dist/encoding/avro/reader.js`],
    ["decode", "readRecord", `${installed}/@cdckit/decode/dist/encoding/avro/reader.js`],
    ["decode", "readRecord", "file:///C:/app/node_modules/@cdckit/decode/dist/encoding/avro/reader.js"],
    ["decode", "parse", `${installed}/avsc/lib/types.js`],
    ["validate", "validate10", `${installed}/ajv/dist/compile/index.js`],
    ["validate", "check", `${installed}/@cdckit/json-schema/dist/validator.js`],
    ["fetch", "decode", `${installed}/kafkajs/src/protocol/decoder.js`],
    ["fetch", "walk", `${installed}/@cdckit/kafkajs/dist/partition-reader.js`],
    ["decompress", "decompress", `${installed}/kafkajs/src/protocol/message/compression/gzip.js`],
    ["decompress", "readBlock", `${installed}/@cdckit/record-batch/dist/codecs/lz4.js`],
    ["fetch", "crc32c", `${installed}/@cdckit/record-batch/dist/crc32c.js`],
    ["decompress", "inflt", `${installed}/fzstd/lib/index.cjs`],
    ["decompress", "zlibBufferSync", "node:zlib"],
    ["commit", "commitOffsets", `${installed}/kafkajs/src/consumer/offsetManager/index.js`],
    ["commit", "commit", `${installed}/@cdckit/consumer/dist/delivery/committer.js`],
    ["handler", "handle", `${installed}/@cdckit/consumer/dist/delivery/handler-stage.js`],
    ["handler", "query", `${installed}/pg/lib/client.js`],
    ["fetch", "onStreamRead", "node:internal/stream_base_commons"],
    ["other", "processTimers", "node:internal/timers"],
    ["other", "look", `${repository}/cdc-bench/dist/measure/reading.js`],
    ["other", "(idle)", `${repository}/cdc-bench/dist/evil.js`],
  ])("%s: %s in %s", (area, name, url) => {
    expect(areaOf(name, url, undefined)).toBe(area);
  });

  test("belongs to the caller if the function is the language's, Node's or nobody's", () => {
    expect(areaOf("parse", "", "decode")).toBe("decode");
    expect(areaOf("toString", "node:buffer", "decode")).toBe("decode");
    expect(areaOf("writev", "node:internal/stream_base_commons", "commit")).toBe("commit");
    expect(areaOf("theirs", `${installed}/whatever/index.js`, "handler")).toBe("handler");
  });

  test("is its own if the function is known, whoever calls it", () => {
    expect(areaOf("readRecord", `${installed}/@cdckit/decode/dist/decoder.js`, "handler")).toBe("decode");
    expect(areaOf("(garbage collector)", "", "decode")).toBe("gc");
  });
});
