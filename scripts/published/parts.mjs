/**
 * The parts of `npm run bench:published`: which command of cdc-bench repeats which part of the five published comparisons
 * (docs/published-benchmarks.md), at full size and quickly. A part's flags stand here alone.
 */

/**
 * Where the services are that parts need.
 * @typedef {object} Services
 * @property {string} stackDir
 * @property {string} brokers
 * @property {string} registryUrl
 * @property {string} databaseUrl holds a password: goes into the environment, never into arguments
 * @property {string | null} redisUrl null if there is no redis-server
 */

/**
 * @typedef {object} Part
 * @property {string} name of its result file
 * @property {string} benchmark A to E
 * @property {"stack" | "redis" | "nothing"} needs
 * @property {readonly string[]} command with the flags that both sizes have
 * @property {readonly string[]} full flags of the full size
 * @property {readonly string[]} quick flags of `--quick`
 * @property {(services: Services) => { flags: readonly string[], env: Readonly<Record<string, string>> }} [where] flags and environment
 */

/** @param {Services} services */
const onKafka = ({ brokers }) => ({ flags: ["--brokers", brokers], env: {} });

/** @param {Services} services */
const onKafkaAndPostgres = ({ brokers, databaseUrl }) => ({ flags: ["--brokers", brokers], env: { DRAIN_SINK_URL: databaseUrl } });

/** @type {readonly Part[]} */
export const parts = [
  {
    name: "a-snapshot",
    benchmark: "A",
    needs: "stack",
    command: ["snapshot"],
    full: ["--rows", "2000000", "--rounds", "1"], // of hundreds of seconds each: a round more is ten minutes more
    quick: ["--quick"],
    where: ({ stackDir }) => ({ flags: ["--stack", stackDir], env: {} }),
  },
  {
    name: "b-drain",
    benchmark: "B",
    needs: "stack",
    command: ["drain", "--to", "all"],
    full: ["--events", "1000000", "--rounds", "1"],
    quick: ["--events", "20000", "--rounds", "2"],
    where: onKafkaAndPostgres,
  },
  {
    name: "b-sweep",
    benchmark: "B",
    needs: "stack",
    command: ["sweep"],
    full: ["--events", "200000", "--time-limit", "15m"],
    quick: ["--events", "20000", "--rounds", "1", "--time-limit", "60s"],
    where: onKafka,
  },
  {
    name: "c-codec",
    benchmark: "C",
    needs: "nothing",
    command: ["codec", "--suite", "ratings"],
    full: [],
    quick: ["--quick"],
  },
  {
    name: "c-redis",
    benchmark: "C",
    needs: "redis",
    command: ["roundtrip", "--via", "redis"],
    full: [],
    quick: ["--quick"],
    where: ({ redisUrl }) => ({ flags: redisUrl === null ? [] : ["--redis", redisUrl], env: {} }),
  },
  {
    name: "c-kafka",
    benchmark: "C",
    needs: "stack",
    command: ["roundtrip", "--via", "kafka"],
    full: [],
    quick: ["--quick"],
    where: onKafka,
  },
  {
    name: "d-http",
    benchmark: "D",
    needs: "nothing",
    command: ["http"],
    full: [],
    quick: ["--quick"],
  },
  {
    name: "d-codec",
    benchmark: "D",
    needs: "nothing",
    command: ["codec", "--suite", "avro-api", "--link", "100mbit"],
    full: [],
    quick: ["--quick"],
  },
  {
    name: "e-codec",
    benchmark: "E",
    needs: "nothing",
    command: ["codec", "--suite", "soa"],
    full: [],
    quick: ["--quick"],
  },
];

/** The letters of the benchmarks. */
export const benchmarks = [...new Set(parts.map(({ benchmark }) => benchmark))];
