/**
 * The module of a worker thread, as a service has it. The address that it is loaded by says what it does: `?do=...`. A misdeed is done by
 * the last of the workers.
 */
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { createConsumer } from "@cdckit/consumer";

const asked = new URL(import.meta.url).searchParams;
const does = asked.get("do");
const brokers = asked.get("brokers");

if (does === "throws while it loads") {
  throw new Error("no database");
}
if (does === "never loads") {
  setInterval(() => {}, 1_000);
  say("loading", {});
  await new Promise(() => {});
}

const stopsItself = new Set(["stops itself", "fails to close", "logs, and loads slowly", "has no turn while it connects"]);
const forEver = () => new Promise(() => {});
const misdeeds = {
  throws: () => {
    throw new TypeError("a bug");
  },
  hangs: forEver,
  exits: () => process.exit(7),
  "throws elsewhere": () => {
    setImmediate(() => {
      throw new Error("nobody catches this");
    });
    return forEver();
  },
  blocks: () => {
    for (;;) {}
  },
  allocates: () => {
    const kept = [];
    for (;;) {
      kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
    }
  },
};

async function makeConsumer(options, worker) {
  parentPort?.postMessage(null); // a module may use its port, and the consumer must not take that for a message of its own
  if (does === "finds no database") {
    throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  }
  if (does === "gives a wrong option") {
    options = { ...options, delivery: { concurrency: 0 } };
  }
  if (does === "opens, and fails") {
    say("opened", { worker: worker.number });
    worker.onStopped(async () => {
      say("closed", { worker: worker.number });
      await pass(0);
    });
    // The last one is told to stop, because another one has failed, when it fails itself.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, worker.number < worker.count ? 0 : 700);
    throw new Error("no database");
  }
  if (does === "opens, and waits") {
    worker.onStopped(async () => {
      await pass(0);
      say("closed", { worker: worker.number });
    });
    say("loading", { worker: worker.number });
    await forEver();
  }
  if (does === "logs, and loads slowly") {
    options.logger.info({}, "warming up");
    await pass(3_000);
  }
  const consumer = createConsumer({ ...options, driver: await driverOf(worker) });
  if (does === "keeps a timer") {
    setInterval(() => {}, 1_000);
  }
  worker.onStopped(() => {
    say("closed", { worker: worker.number });
    if (does === "fails to close") {
      const get = () => {
        throw new Error("there is no message");
      };
      throw Object.defineProperty(new Error(), "message", { get });
    }
    return does === "never closes" ? forEver() : undefined;
  });
  consumer.on("*", (event) => {
    const { topic, partition, offset } = event.record;
    say("handling", { worker: worker.number, topic, partition, offset: Number(offset) });
    if (worker.number < worker.count) {
      return undefined;
    }
    if (stopsItself.has(does)) {
      void consumer.stop();
    }
    return misdeeds[does]?.();
  });
  if (does === "starts by itself") {
    void consumer.run();
  }
  return consumer;
}

/** Without brokers, each worker reads a log of its own. */
async function driverOf(worker) {
  if (brokers !== null) {
    const { kafkajs } = await import("@cdckit/kafkajs");
    return kafkajs({ brokers: [brokers], maxWaitMs: 100, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 300, rebalanceTimeoutMs: 6_000 });
  }
  const { memory } = await import("@cdckit/testkit");
  const driver = memory({ topics: { orders: 1 } });
  for (let id = 0; id < 3; id++) {
    driver.broker.append("orders", { value: JSON.stringify({ id, worker: worker.number }) });
  }
  return does === "has no turn while it connects" ? withoutTurn(driver) : driver;
}

/** As on a machine without CPU time for the thread. */
function withoutTurn(driver) {
  return {
    ...driver,
    connect: (...parts) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
      return driver.connect(...parts);
    },
  };
}

function say(what, line) {
  process.stdout.write(`${JSON.stringify({ does, what, ...line })}\n`);
}

export default does === "makes nothing" ? () => undefined : makeConsumer;
