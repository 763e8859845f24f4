import type { ProfileArea } from "../result/profile-frame.ts";

/** Functions that V8's profiler names itself, because no code of a file runs. */
const namedByV8: Readonly<Record<string, ProfileArea>> = {
  "(garbage collector)": "gc",
  "(idle)": "idle",
  "(program)": "other",
};

interface AreaRule {
  readonly area: ProfileArea;
  /** Of the file, with `/` between its folders. */
  readonly file: RegExp;
  /** Only functions of these names. */
  readonly name?: RegExp;
}

/** A file of one of our packages, as it is installed and as it stands in the repository. */
function ours(name: string, path: string): RegExp {
  const folders = name === "cdc-bench" ? "node_modules|packages" : "@cdckit|packages";
  return new RegExp(`/(?:${folders})/${name}/(?:dist|src)/${path}`);
}

/** A file of a package that somebody else made. */
function theirs(name: string, path = ""): RegExp {
  return new RegExp(`/node_modules/(?:${name})/${path}`);
}

/** The first that fits wins: what is more special stands first. */
const rules: readonly AreaRule[] = [
  { area: "decompress", file: ours("record-batch", "codecs/") },
  { area: "commit", file: ours("(?:driver|kafkajs)", "(?:commits|commit-metadata)\\.") },
  { area: "fetch", file: ours("(?:driver|kafkajs|record-batch)", "") },
  { area: "validate", file: ours("json-schema", "") },
  { area: "validate", file: theirs("ajv|ajv-formats|re2js") },
  { area: "decode", file: ours("decode", "") },
  { area: "decode", file: ours("registry", "") },
  { area: "commit", file: ours("consumer", "delivery/(?:committer|offset-ledger|partition-ledgers)\\.") },
  { area: "handler", file: ours("consumer", "") },
  { area: "handler", file: ours("postgres", "") },
  { area: "fetch", file: ours("testkit", "") },
  { area: "decompress", file: ours("cdc-bench", "codec/codecs/compressed\\.") },
  { area: "validate", file: ours("cdc-bench", "codec/codecs/json-schema\\.") },
  { area: "decode", file: ours("cdc-bench", "(?:codec/codecs/|measure/peer\\.)") },
  { area: "decompress", file: theirs("kafkajs", "src/protocol/message/compression/") },
  { area: "commit", file: theirs("kafkajs", "src/(?:consumer/offsetManager|protocol/requests/(?:offsetCommit|txnOffsetCommit))/") },
  { area: "fetch", file: theirs("kafkajs|@platformatic/kafka|@confluentinc/kafka-javascript|redis|@redis/[^/]+|ioredis") },
  { area: "decompress", file: theirs("zstddec|fzstd|snappyjs|snappy|lz4js|@bokuweb/zstd-wasm") },
  { area: "decode", file: theirs("avsc|protobufjs|@msgpack/msgpack|cborg|@kafkajs/confluent-schema-registry") },
  { area: "handler", file: theirs("pg|pg-pool|pg-protocol|mysql2|mariadb") },
  { area: "decompress", file: /^node:zlib$/ },
  { area: "gc", file: /^node:/, name: /^gc$/ },
];

/** What starts a call of its own in Node.js, and means something then alone: below one of our functions it is part of that. */
const rootRules: readonly AreaRule[] = [
  {
    area: "fetch",
    file: /^node:(?:net|_tls_wrap|tls|internal\/stream_base_commons|http|_http_\w+|undici|internal\/deps\/undici\/undici)$/,
  },
];

/**
 * What the time in a function is for. Functions of Node.js and of the language (`Buffer.toString`, `JSON.parse`) belong to who calls them, as
 * does everything that no rule knows.
 * @param caller the area of the function that calls it; undefined if it was called by nobody
 */
export function areaOf(functionName: string, url: string, caller: ProfileArea | undefined): ProfileArea {
  const byV8 = url === "" && Object.hasOwn(namedByV8, functionName) ? namedByV8[functionName] : undefined;
  return (
    byV8 ??
    find(rules, functionName, url) ??
    (caller === undefined || caller === "other" ? find(rootRules, functionName, url) : caller) ??
    "other"
  );
}

function find(list: readonly AreaRule[], functionName: string, url: string): ProfileArea | undefined {
  const file = url.replaceAll("\\", "/");
  return list.find((rule) => rule.file.test(file) && (rule.name?.test(functionName) ?? true))?.area;
}
