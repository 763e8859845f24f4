/**
 * A service that ends in a given way, and says when `run()` has settled: what is measured is how long the process lives on after that.
 * It never calls process.exit(). Argument: what to do, as JSON.
 */
import process from "node:process";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { postgres } from "@cdckit/postgres";
import { Kafka, logLevel } from "kafkajs";

const { brokers, topics, groupId, driver, ownClient, handler, ending, sink, target, ...options } = JSON.parse(process.argv[2] ?? "{}");

const tuning = { maxWaitMs: 100, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 300, rebalanceTimeoutMs: 6_000, ...driver };
const kafka = ownClient ? new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }) : null;
const consumer = createConsumer({
  driver: kafka === null ? kafkajs({ brokers: [brokers], ...tuning }) : kafkajs({ kafka, ...tuning }),
  groupId,
  topics: topics.map((topic) => (topic.startsWith("/") ? new RegExp(topic.slice(1, -1)) : topic)),
  shutdownTimeoutMs: 1_000,
  ...options,
});

const forEver = () => new Promise(() => {});
const handlers = {
  handles: () => {},
  hangs: forEver,
  throws: () => {
    throw new TypeError("a bug");
  },
  rejects: () => Promise.reject(new Error("it is always so")),
  isAway: () => Promise.reject(Object.assign(new Error("the database is away"), { code: "ECONNREFUSED" })),
};

const endings = {
  run: () => {
    if (sink === undefined) {
      consumer.on("*", (event) => {
        say("handling");
        return handlers[handler](event);
      });
    } else {
      consumer.to(sinks[sink.kind](sink));
    }
    return consumer.run();
  },
  pipe: () => consumer.pipe("*", () => [{ topic: target, key: null, value: "{}" }]).run(),
  break: async () => {
    for await (const _ of consumer.stream()) {
      say("handling");
      break;
    }
  },
  throw: async () => {
    for await (const _ of consumer.stream()) {
      say("handling");
      throw new Error("thrown in the loop");
    }
  },
};

const sinks = {
  postgres: ({ connectionString }) => postgres({ connectionString, create: true }),
  isAway: () => ({
    name: "isAway",
    claim: async () => [],
    apply: () => {
      say("handling");
      return handlers.isAway();
    },
    close: async () => {},
  }),
  hangs: () => ({
    name: "hangs",
    claim: async () => [],
    apply: () => {
      say("handling");
      return forEver();
    },
    close: forEver,
  }),
};

const ended = endings[ending]();
say("started");
try {
  await ended;
  say("settled");
} catch (error) {
  say(`settled ${error.code ?? error.message}`);
}
const settledAt = performance.now();
process.once("exit", () => say(`lived on for ${Math.round(performance.now() - settledAt)}`));
setTimeout(() => process.stderr.write(`alive: ${process.getActiveResourcesInfo().join(" ")}\n`), 1_000).unref();

function say(line) {
  process.stdout.write(`${line}\n`);
}
