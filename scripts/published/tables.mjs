/**
 * The tables of docs/published-benchmarks.md: published figures beside those of bench/results/published. A result that is missing, or was
 * interrupted, leaves its cells empty.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {Record<string, any>} Result as a command wrote it: what is missing in it is an empty cell */
/** @typedef {{ columns: readonly string[], rows: readonly (readonly string[])[] }} Table */

const empty = "-";

/** @type {Readonly<Record<string, (read: (name: string) => Result | null) => Table>>} */
export const tables = {
  A: tableOfA,
  B: tableOfB,
  C: tableOfC,
  D: tableOfD,
  E: tableOfE,
};

/**
 * The table of one benchmark as Markdown, with a line on where its figures come from.
 * @param {string} benchmark
 * @param {string} folder of the results
 * @returns {string}
 */
export function tableText(benchmark, folder) {
  /** @type {Result[]} */
  const used = [];
  const read = (/** @type {string} */ name) => {
    const result = readResult(join(folder, `${name}.json`));
    if (result !== null) used.push(result);
    return result;
  };
  const { columns, rows } = /** @type {NonNullable<typeof tables[string]>} */ (tables[benchmark])(read);
  const lines = [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [...lines, "", originOf(used)].join("\n");
}

/** @param {string} file @returns {Result | null} */
function readResult(file) {
  if (!existsSync(file)) return null;
  const result = JSON.parse(readFileSync(file, "utf8"));
  return result.aborted === true ? null : result;
}

/** @param {readonly Result[]} used */
function originOf(used) {
  const [first] = used;
  if (first === undefined) {
    return "No full run has been recorded yet: the cells of this machine are empty.";
  }
  const { cpu, cores, memoryBytes, node } = first.environment;
  const days = [...new Set(used.map(({ startedAt }) => String(startedAt).slice(0, 10)))].join(", ");
  return `Measured on ${days}: ${cpu}, ${cores} cores, ${Math.round(memoryBytes / 2 ** 30)} GiB, Node ${node}.`;
}

const formatsOfA = [
  { name: "JSON with schema", id: "json-schema" },
  { name: "JSON", id: "json" },
  { name: "Avro", id: "avro" },
];

/** @type {readonly (readonly [metric: string, published: readonly string[], here: (format: Result) => string])[]} */
const metricsOfA = [
  ["messages", ["2,000,000", "2,000,000", "2,000,000"], ({ messages }) => count(messages)],
  ["total time, s", ["515.9", "85.1", "67.4"], ({ totalMs }) => fixed(totalMs / 1e3, 1)],
  ["msg/s", ["3,876", "23,510", "29,674"], ({ messagesPerSecond }) => count(messagesPerSecond)],
  ["MB/s", ["17.09", "15.23", "6.08"], ({ megabytesPerSecond }) => fixed(megabytesPerSecond, 2)],
  ["total size, MB", ["8,820", "1,296", "410"], ({ totalBytes }) => count(totalBytes / 1e6)],
  [
    "size avg / median / p99, B",
    ["4,624 / 4,626 / 4,634", "679 / 681 / 689", "215 / 220 / 224"],
    ({ sizes }) => [sizes?.avgBytes, sizes?.p50Bytes ?? sizes?.medianBytes, sizes?.p99Bytes].map(count).join(" / "),
  ],
  ["size against Avro", ["21.53x", "3.16x", "1x"], ({ timesAvro }) => times(timesAvro)],
  [
    "latency p50 / p95 / p99, ms",
    ["1,549 / 2,015 / 2,892 (backlog)", "2,051 / 3,215 / 4,093 (backlog)", "4 / 1,377 / 3,881 (backlog)"],
    ({ tail }) =>
      [tail?.sinceIntended?.p50Ns, tail?.sinceIntended?.p95Ns, tail?.sinceIntended?.p99Ns].map((ns) => fixed(ns / 1e6, 1)).join(" / "),
  ],
  ["connector alone, msg/s", ["", "", ""], ({ connector }) => count(connector?.messagesPerSecond)],
  ["consumer alone, msg/s", ["", "", ""], ({ consumer }) => count(consumer?.messagesPerSecond)],
];

/** @param {(name: string) => Result | null} read @returns {Table} */
function tableOfA(read) {
  const result = read("a-snapshot");
  const here = formatsOfA.map(({ id }) => result?.["formats"]?.find((/** @type {Result} */ { format }) => format === id) ?? null);
  return {
    columns: ["metric", ...formatsOfA.flatMap(({ name }) => [`${name}, published`, "here"])],
    rows: metricsOfA.map(([metric, published, valueOf]) => [
      metric,
      ...formatsOfA.flatMap((_format, i) => [published[i] || empty, here[i] === null ? empty : valueOf(here[i])]),
    ]),
  };
}

/** @param {(name: string) => Result | null} read @returns {Table} */
function tableOfB(read) {
  const result = read("b-drain");
  const published = [
    ["DeltaForge, MySQL, at least once", "151K / 159K", empty],
    ["DeltaForge, MySQL, exactly once", "134K / 143K", "11%"],
    ["DeltaForge, PostgreSQL, at least once", "57K / 64K", empty],
    ["DeltaForge, PostgreSQL, exactly once", "53K / 55K", "7%"],
  ];
  /** @type {readonly Result[]} */
  const drains = result?.["drains"] ?? [];
  const here = drains.map(({ label, target, delivery, avg, peak }) => {
    const cost = result?.["deliveryCosts"]?.find((/** @type {Result} */ each) => each["target"] === target);
    return [
      `cdckit, ${label}`,
      `${count(avg?.median)} / ${count(peak)}`,
      delivery === "effectively-once" ? percent(cost?.percent?.median) : empty,
    ];
  });
  const rows = here.length === 0 ? [["cdckit", empty, empty]] : here;
  return { columns: ["drain of a backlog", "events/s, avg / peak", "cost of effectively-once"], rows: [...published, ...rows] };
}

/** @param {(name: string) => Result | null} read @returns {Table} */
function tableOfC(read) {
  const memory = read("c-codec");
  const [redis, kafka] = [read("c-redis"), read("c-kafka")];
  const inMemory = (/** @type {string} */ codec) => codecOf(memory, "objects", codec);
  const trip = (/** @type {Result | null} */ result, /** @type {string} */ codec) =>
    result?.["roundtrips"]?.find((/** @type {Result} */ each) => each["codec"] === codec && each["mode"] === "one at a time");
  const row = (/** @type {string} */ name, /** @type {string} */ codec, /** @type {readonly string[]} */ published) => {
    const [size = empty, average = empty] = published;
    const measured = inMemory(codec);
    return [
      name,
      size,
      count(measured?.["sizeBytes"]),
      average,
      fixed(trip(redis, codec)?.["latency"]?.meanNs / 1e6, 2),
      fixed(trip(kafka, codec)?.["latency"]?.meanNs / 1e6, 2),
      fixed(measured?.["write"]?.ms?.median * 1e3, 1),
      fixed(measured?.["read"]?.ms?.median * 1e3, 1),
    ];
  };
  return {
    columns: [
      "codec",
      "size published, B",
      "here",
      "round trip published, ms",
      "over Redis here",
      "over Kafka here",
      "serialize here, µs",
      "deserialize here, µs",
    ],
    rows: [
      row("JSON", "json", ["3,068", "0.85"]),
      row("Protobuf", "protobuf (protobufjs)", ["3,372", "0.31"]),
      row("Avro, headless", "avro, headless (avsc)", []),
    ],
  };
}

/** @param {(name: string) => Result | null} read @returns {Table} */
function tableOfD(read) {
  const http = read("d-http");
  const published = [
    { name: "JSON", format: "json", encoding: "identity", cells: ["672.3", "52.23", "6,044"] },
    { name: "Avro", format: "avro", encoding: "identity", cells: ["384.7", "76.58", "2,623"] },
    { name: "JSON, gzip", format: "json", encoding: "gzip", cells: ["264.1", "88.32", "514"] },
    { name: "JSON, brotli", format: "json", encoding: "br", cells: ["222.5", "86.15", "31"] },
    { name: "Avro, gzip", format: "avro", encoding: "gzip", cells: ["181.2", "75.05", "104"] },
    { name: "Avro, brotli", format: "avro", encoding: "br", cells: ["193.5", "74.75", "31"] },
  ];
  return {
    columns: ["response", "request published, ms", "here", "allocated published, MB", "here", "sent published, kB", "here"],
    rows: published.map(({ name, format, encoding, cells: [requestMs = "", allocated = "", sent = ""] }) => {
      const here = responseOf(http, format, encoding);
      return [name, requestMs, fixed(here?.requestMs, 1), allocated, fixed(here?.allocatedMegabytes, 2), sent, count(here?.sentKilobytes)];
    }),
  };
}

/**
 * @param {Result | null} result
 * @param {string} format
 * @param {string} encoding
 * @returns {{ requestMs: number, allocatedMegabytes: number, sentKilobytes: number } | null}
 */
function responseOf(result, format, encoding) {
  const found = result?.["responses"]?.find(
    (/** @type {Result} */ each) => each["method"] === "GET" && each["format"] === format && each["encoding"] === encoding,
  );
  return found === undefined
    ? null
    : { requestMs: found.request?.p50Ns / 1e6, allocatedMegabytes: found.allocatedBytes / 1e6, sentKilobytes: found.sentBytes / 1e3 };
}

/** @param {(name: string) => Result | null} read @returns {Table} */
function tableOfE(read) {
  const result = read("e-codec");
  const json = codecOf(result, "list", "json");
  const published = [
    { name: "json", codec: "json", cells: ["0.47 (1.00x)", "1.08 (1.00x)", "16,388,848 (1.00x)"] },
    { name: "json.gz", codec: "json, gzip", cells: ["1.88 (4.02x)", "1.52 (1.40x)", "5,887,318 (0.36x)"] },
    { name: "json-schema", codec: "json-schema (ajv)", cells: ["0.47 (1.00x)", "13.18 (12.16x)", "16,388,848 (1.00x)"] },
    { name: "avro", codec: "avro, headless (avsc)", cells: ["9.12 (19.51x)", "9.88 (9.11x)", "8,094,892 (0.49x)"] },

    { name: "proto", codec: "protobuf (protobufjs)", cells: ["7.87 (16.84x)", "7.46 (6.88x)", "9,183,403 (0.56x)"] },
  ];
  const compared = (
    /** @type {number | undefined} */ value,
    /** @type {number | undefined} */ base,
    /** @type {(value: number) => string} */ text,
  ) => (value === undefined || base === undefined ? empty : `${text(value)} (${times(value / base)})`);
  return {
    columns: ["whole list of 100,000", "write published, s", "here", "read published, s", "here", "size published, B", "here"],
    rows: published.map(({ name, codec, cells: [write = "", readCell = "", size = ""] }) => {
      const here = codecOf(result, "list", codec);
      const seconds = (/** @type {number} */ ms) => fixed(ms / 1e3, 3);
      return [
        name,
        write,
        compared(here?.["write"]?.ms.median, json?.["write"]?.ms.median, seconds),
        readCell,
        compared(here?.["read"]?.ms.median, json?.["read"]?.ms.median, seconds),
        size,
        compared(here?.["sizeBytes"], json?.["sizeBytes"], count),
      ];
    }),
  };
}

/**
 * @param {Result | null} result of `codec`
 * @param {string} mode
 * @param {string} name
 * @returns {Result | undefined}
 */
function codecOf(result, mode, name) {
  const suite = result?.["suites"]?.find((/** @type {Result} */ each) => each["mode"] === mode);
  return suite?.codecs.find((/** @type {Result} */ { codec }) => codec === name);
}

/** @param {number | undefined | null} value */
function count(value) {
  return typeof value === "number" && Number.isFinite(value) ? Math.round(value).toLocaleString("en-US") : empty;
}

/** @param {number | undefined | null} value @param {number} digits */
function fixed(value, digits) {
  return typeof value === "number" && Number.isFinite(value)
    ? value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : empty;
}

/** @param {number | undefined | null} ratio */
function times(ratio) {
  return typeof ratio === "number" && Number.isFinite(ratio) ? `${fixed(ratio, 2)}x` : empty;
}

/** @param {number | undefined | null} value */
function percent(value) {
  return typeof value === "number" && Number.isFinite(value) ? `${fixed(value, 1)}%` : empty;
}
