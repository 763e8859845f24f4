/** What the runtime promises, each with the tests that hold it. `scripts/guarantees.mjs` makes a page of them. */
import { brokerRuns, nameOf } from "./broker-runs.mjs";

/**
 * @typedef {readonly [file: string, test: string]} Proof
 * @typedef {object} Promised
 * @property {string} id
 * @property {string} text
 * @property {readonly Proof[]} proofs
 * @property {string} [notYet] what of it nothing proves yet, and why
 */

/** Its proofs are runs of `npm run test:brokers`, which notes what became of them. */
export const brokerRunsFile = "scripts/broker-runs.mjs";
const consumer = "packages/consumer/src";
const decode = "packages/decode/src";
const schedules = "whatever comes in whatever order, nothing is lost, overtaken or committed early, and what comes twice is explained";

/** @type {Proof} */
const simulation = ["test/simulation/simulation.test.ts", schedules];
/** @type {Proof} */
const plantedBugs = ["test/simulation/planted-bugs.test.ts", "every planted bug is caught"];

/** @type {Proof} */
const chaos = [
  "test/chaos/chaos.test.ts",
  "members are killed, frozen and cut off: nothing is lost, no key is reordered, and what comes again is explained",
];

const lostCommitAnswers = "test/integration/lost-commit-answers.test.ts";
/** @type {Proof} */
const pipeChaos = [
  "test/chaos/pipe.test.ts",
  "pipe() writes every record once for readers of what is committed, whoever is killed, frozen or joins",
];

/** @type {Proof} */
const recreatedChaos = [
  "test/chaos/chaos.test.ts",
  "a topic is deleted and created again while members work, stop, are killed or frozen: no record of the last one is skipped",
];

/** @type {Proof} */
const userCode = [
  `${consumer}/consumer-user-code.test.ts`,
  "an isRetriable that throws or gives no answer that it may ends the run with a typed error",
];

/** @type {readonly Promised[]} */
export const promises = [
  {
    id: "P1",
    text: "At least once: an offset is committed only when every record before it is handled, filtered as asked, or acknowledged as a dead letter. A commit counts only for the topic whose records were handled, not for another one of the same name.",
    proofs: [
      simulation,
      chaos,
      recreatedChaos,
      [`${consumer}/consumer-failures.test.ts`, "the offset does not move before the dead letter is acknowledged"],
    ],
  },
  {
    id: "P2",
    text: "The records of one key are handled in their order, through retries, concurrency, rebalances and dead letters.",
    proofs: [
      simulation,
      chaos,
      [`${consumer}/consumer-failures.test.ts`, "later records of a key follow its dead letter in order, and other keys go on"],
      [`${consumer}/consumer-failures.test.ts`, "a record is retried in its place, and nothing overtakes it"],
    ],
  },
  {
    id: "P3",
    text: "What is handled twice has a cause: none after a clean stop or rebalance; after a crash no more than was in flight or not committed. A process that was frozen beyond its session goes on with nothing until the group has acknowledged it.",
    proofs: [
      simulation,
      chaos,
      pipeChaos,
      [`${consumer}/consumer.test.ts`, "a member that joins takes over without a gap and without a duplicate"],
      [`${consumer}/consumer-lease.test.ts`, "an answer that was read too late does not count"],
    ],
  },
  {
    id: "P4",
    text: "Sinks that keep rows and offsets in one fenced transaction apply each record once. A checkpoint keeps the id of its topic: a recreated topic is read from its start, never from the old offset.",
    proofs: [
      simulation,
      [`${consumer}/consumer-sinks.test.ts`, "applies each row once, whatever members come, go and expire"],
      ["test/integration/postgres-sink.test.ts", "move with the rows or not at all"],
      ["test/integration/postgres-sink.test.ts", "fence whoever held the partition before"],
      ["test/integration/postgres-sink.test.ts", "keep the topic id that they were reached in, and one of a recreated topic begins again"],
      [
        "test/chaos/postgres-copy.test.ts",
        "a copy of tables under load, whose members are killed, equals its source, and every change was applied once",
      ],
    ],
  },
  {
    id: "P5",
    text: "Once a partition is revoked or lost, its former owner hands nothing on, writes nothing and commits nothing; nor does a member that the group has not acknowledged within its session, or whose commit it has refused.",
    proofs: [
      simulation,
      chaos,
      pipeChaos,
      [`${consumer}/consumer-lease.test.ts`, "a partition that the group has given away meanwhile never goes on"],
      [`${consumer}/consumer-lease.test.ts`, "nothing is handed on to the reader of a stream before it does"],
      [`${consumer}/consumer-lease.test.ts`, "no dead letter is written before it does"],
      ["test/integration/kafkajs-lease.test.ts", "loses its partitions in the moment in which a commit is refused"],
      [`${consumer}/consumer.test.ts`, "what is in flight when a partition is lost is never committed by the member that lost it"],
    ],
  },
  {
    id: "P6",
    text: "health() reports a client that keeps its membership and does not fetch, and brokers that cannot be reached, within a minute. Connections to Kafka or PostgreSQL that do not answer are replaced. health() reports what is waited for or retried within 5 seconds, and between attempts: what, where, since when and why. A broker that stands still and coordinates the group is reported 5 seconds after its last answer with heartbeats at their default, by `@cdckit/confluent` after 6; any other when requests to it time out.",
    proofs: [
      chaos,
      [
        `${consumer}/observe/waits.test.ts`,
        "a failed attempt is shown at once, with what, where, since when and why, and stays shown between the attempts",
      ],
      [`${consumer}/observe/waits.test.ts`, "a wait without an answer is shown within 5 s, and an answer in time is never shown"],
      [`${consumer}/consumer-waits.test.ts`, "names a sink that refuses, even between the attempts"],
      [`${consumer}/consumer-waits.test.ts`, "names a sink that does not answer, its host and the record"],
      [`${consumer}/consumer-waits.test.ts`, "names a sink that cannot claim its partitions"],
      [`${consumer}/consumer-waits.test.ts`, "names a dead-letter topic that does not take the letter"],
      [`${consumer}/consumer-waits.test.ts`, "names commits that do not succeed"],
      [`${consumer}/consumer-waits.test.ts`, "names the record of a handler that is retried, even at concurrency 8"],
      [`${consumer}/consumer-waits.test.ts`, "names the driver that has not joined"],
      [`${consumer}/consumer-waits.test.ts`, "names a registry that accepts and never answers, even before the first time-out"],
      [
        "test/integration/health-stalls.test.ts",
        "a registry that accepts and never answers is named within 5 s, with its address and the schema",
      ],
      [
        "test/integration/health-stalls.test.ts",
        "a start that an open transaction holds up is named within 5 s, with the partition and the cause, until it ends",
      ],
      [
        "packages/consumer/src/delivery/lease.test.ts",
        "is shown 5 s after its last acknowledgement, with the broker, long before the lease is over",
      ],
      ["test/integration/frozen-broker.test.ts", "is in health() in time, with its address, until it goes on"],
      ["test/integration/leaderless.test.ts", "is named within 5 s of the metadata that says so, until it has a leader again"],
      [
        "test/integration/dead-connections.test.ts",
        "is at work again soon when its connections swallow what is sent on them and new ones work, and counts it",
      ],
      [
        "test/integration/dead-connections.test.ts",
        "names the brokers that are gone, the cause and since when, is not ready meanwhile, and goes on when they are back",
      ],
      [
        "test/integration/postgres-faults.test.ts",
        "that swallows what is sent on it is given up in time and replaced, and so are the others that were open then",
      ],
      [
        `${consumer}/consumer-stuck.test.ts`,
        "if brokers do not answer, a consumer is not ready but live, because a restart would not help",
      ],
      [
        `${consumer}/consumer-stuck.test.ts`,
        "if a client keeps its membership and does not fetch, health() reports it within a minute, until it fetches again",
      ],
      [
        "test/chaos/chaos.test.ts",
        "a broker that answers everything but fetches turns health() red, with the reason, until it answers again",
      ],
    ],
  },
  {
    id: "P7",
    text: "History is never skipped in silence: if records are gone, or their topic was deleted and created again, the consumer stops and names what is lost, or names what it skips if the user chose that. It stops before a record batch that cannot be read.",
    proofs: [
      simulation,
      plantedBugs,
      recreatedChaos,
      ["test/integration/damaged-log.test.ts", "a damaged batch in the midst of a log"],
      [
        "test/integration/recreated-topic.test.ts",
        "of a broker without topic ids: a commit that came to the new topic is told by the record before it",
      ],
      [
        "test/integration/recreated-topic.test.ts",
        "while a sink's consumer is stopped: halts with both topic ids, or is applied from its start, and never skipped",
      ],
      [
        "test/integration/recreated-topic.test.ts",
        "while a handler is at work and commits come to the new topic: halts, and so does each start until somebody decides",
      ],
      [
        "test/integration/recreated-topic.test.ts",
        "while a handler is at work and commits come to the new topic: is read from its start if the user chose that",
      ],
    ],
  },
  {
    id: "P8",
    text: "A record that cannot be handled holds up no other key for ever, and no other partition at all, and does not vanish: it halts the consumer, or becomes a dead letter in its own bytes under Kafka Connect's headers. A failure that is not the record's fault never makes it a dead letter. A dead letter has a timestamp of its own, so that retention does not delete it by the age of its record.",
    proofs: [
      simulation,
      chaos,
      userCode,
      ["test/integration/independent-partitions.test.ts", "a handler that is tried again"],
      ["test/integration/independent-partitions.test.ts", "a schema that the registry does not answer"],
      [
        `${consumer}/failure/dead-letter.test.ts`,
        "has the record's own bytes and headers, a timestamp of its own, and the names that Kafka Connect writes",
      ],
      [
        "test/integration/dead-letter-retention.test.ts",
        "outlive the dead-letter topic's retention, and a redrive has the record's own timestamp",
      ],
      [`${consumer}/consumer-failures.test.ts`, "a failure that is not the record's fault halts the consumer and makes no dead letter"],
      [`${consumer}/consumer-failures.test.ts`, "too many dead letters halt the consumer, and the last record is not committed"],
    ],
  },
  {
    id: "P9",
    text: "Any bytes give a value or a typed DecodeError: no crash, no hang, no code, no changed prototype. What a message makes the decoder compile is bounded by its bytes.",
    proofs: [
      [`${decode}/encoding/compile-budget.test.ts`, "is used up, and grows with what is read"],
      [`${decode}/encoding/avro/recordings.test.ts`, "every payload cut at any byte ends in a DecodeError, the same for both readers"],
      [`${decode}/encoding/avro/hostile.test.ts`, "16 fields below the limit are together above it"],
      ["test/contract/hostile-json.test.ts", "learned names stay data: a quote, a line separator and code in them run nowhere"],
    ],
    notYet: "1e9 inputs: `npm run fuzz` has no such run on record",
  },
  {
    id: "P10",
    text: "Values lose nothing: 64-bit integers, decimals, nanoseconds, bytes. A message is taken for an envelope only on evidence that its system alone writes, and none of its members vanishes: what the envelope does not know is in `extra`, or the message is a plain row.",
    proofs: [
      [`${decode}/encoding/avro/differential.test.ts`, "an int64 is a number if that is exact, and a bigint if not"],
      ["test/contract/foreign-members.test.ts", "a row that only looks like an envelope's is a row with every member"],
    ],
  },
  {
    id: "P11",
    text: "A registry that is down stops no known schema, loses nothing, makes no dead letter, and is not stampeded. Only a registry's own error code, or a registry that answers but is without the path of the id, means that a schema does not exist; any other answer is an outage, and is waited for.",
    proofs: [
      simulation,
      ["packages/registry/src/registry-failures.test.ts", "of a proxy passes: the schema is there when the registry answers again"],
      [`${consumer}/consumer-start.test.ts`, "nothing halts if a registry does not answer or answers 503, because it may come back"],
      [
        `${consumer}/consumer-failures.test.ts`,
        "is waited for as long as it lasts, without dead letters, and health says why nothing moves",
      ],
      ["packages/registry/src/registry.test.ts", "costs one request for a thousand that wait for it"],
    ],
  },
  {
    id: "P12",
    text: "No secret and no value of a row leaves in messages, logs or headers.",
    proofs: [
      ["packages/registry/src/secrets.test.ts", "by an answer that is broken, too large or late"],
      [
        `${consumer}/failure/dead-letter.test.ts`,
        "has the name and code of what a handler threw, and not its message, which may quote the row",
      ],
    ],
  },
  {
    id: "P13",
    text: "What is held in memory is bounded in bytes; the client is paused when that is reached.",
    proofs: [simulation, [`${consumer}/consumer.test.ts`, "batches are taken only until the bytes in flight reach the limit"]],
    notYet: "the resident size over a day: no run of that length is on record",
  },
  {
    id: "P14",
    text: "A stop ends within its deadline, whatever hangs, and says whether work was abandoned. After `run()` has settled, nothing of it keeps the process alive. A function of the user's that throws, or throws what cannot be read, freezes nothing: the run ends with a typed error.",
    proofs: [
      simulation,
      userCode,
      [`${consumer}/consumer-user-code.test.ts`, "a pipe function returns something other than records"],
      [`${consumer}/consumer-user-code.test.ts`, "a validator throws, or returns nothing or a thenable"],
      [`${consumer}/consumer-stop.test.ts`, "a stop ends within its deadlines, whatever hangs"],
      ["test/integration/process-end.test.ts", "a handler that never resolves"],
      ["test/integration/process-end.test.ts", "a registry that accepts and never answers"],
      ["test/integration/process-end.test.ts", "a database that accepts and never answers"],
      ["test/integration/process-end.test.ts", "a member that waits for others to join"],
      ["test/integration/process-end.test.ts", "a stop when the brokers have been gone for long"],
      ["test/chaos/chaos.test.ts", "a member is gone in time after SIGTERM, whatever kafkajs is at and whatever the network does"],
      [`${consumer}/consumer.test.ts`, "a handler that never ends is abandoned at the deadline, and its record is not committed"],
    ],
  },
  {
    id: "P15",
    text: "One contract for every client. What a client lacks is data in its driver's `capabilities`, with the reason.",
    proofs: [
      [
        "test/driver-capabilities.test.ts",
        "the support matrix says of each driver what its capabilities say, and why it lacks what it lacks",
      ],
      ...brokerRuns.map((run) => /** @type {Proof} */ ([brokerRunsFile, nameOf(run)])),
    ],
  },
  {
    id: "P16",
    text: "Each of these sentences names its test, and the simulation catches bugs that are planted into it.",
    proofs: [plantedBugs],
  },
  {
    id: "P17",
    text: "No commit moves a group back: not one that waited for a transaction, nor one of a former owner. With `pipe()`, each event is once in the output of readers with `read_committed`.",
    proofs: [
      [
        `${consumer}/delivery/offset-ledger.test.ts`,
        "in every order of settling and committing, no offset is offered that is not above the broker's",
      ],
      pipeChaos,
      [`${consumer}/consumer-pipe.test.ts`, "a plain commit that waits for a transaction to end does not move the group back"],
      [`${consumer}/consumer-pipe.test.ts`, "each event counts once, whatever members come, go and expire"],
      [lostCommitAnswers, "goes on with kafkajs, and readers of what is committed see each record once"],
      [lostCommitAnswers, "goes on with platformatic, and readers of what is committed see each record once"],
      [lostCommitAnswers, "goes on with confluent, and readers of what is committed see each record once"],
    ],
  },
  {
    id: "P18",
    text: "What a record is read as depends on its bytes, the schemas and the hints, not on records that came before it. It is judged when it is decoded; what can be found bad only later is the record's own error, with its place, and showing an event never throws.",
    proofs: [
      [`${decode}/detect/candidates/ambiguous-frames.test.ts`, "a used decoder reads a key as a fresh one does, or ends in the same error"],
      [
        "test/contract/foreign-members.test.ts",
        "does not depend on messages before it whose members of the same names hold something else",
      ],
      ["test/contract/late-errors.test.ts", "asking for it ends in the record's error, with its place; showing it in none"],
    ],
  },
  {
    id: "P19",
    text: "What waiting does not help is an error at the start, within seconds, with what to change: a login, TLS, an address, a topic, an address that is no schema registry. A failure that may pass is waited for, and health() reports it.",
    proofs: [
      [`${consumer}/consumer-start.test.ts`, "a message that names a schema, without a registry"],
      [`${consumer}/startup.test.ts`, "is an error at once, unless it is to wait"],
      ["test/integration/start-errors.test.ts", "a mechanism that is not offered"],
      ["test/integration/start-errors.test.ts", "an HTTP port"],
      ["test/integration/refused-fetches.test.ts", "who may see a topic and not read it ends the consumer with what is missing"],
    ],
  },
  {
    id: "P20",
    text: "Records that nobody takes do not pass unnoticed: a handler or sink that has taken nothing, while its topics had records, is a warning and a reason in health(), with the tables that came. With `strict`, the first event that nobody takes halts the consumer before it is committed.",
    proofs: [
      [`${consumer}/consumer-matching.test.ts`, "is a warning even after a short run"],
      [`${consumer}/consumer-matching.test.ts`, "an event that no sink takes halts the consumer before a checkpoint passes it"],
    ],
  },
];
