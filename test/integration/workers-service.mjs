/**
 * A service of consumers with workers, one for each scenario. It says when all threads of one have joined and have partitions, and what
 * `run()` has settled with, and how long the process lives on after that. It never calls process.exit(). Argument: the scenarios as JSON,
 * each with what its module does and the options.
 */
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { createConsumer } from "@cdckit/consumer";

let settledAt = 0;
process.once("exit", () => say("", "ended", { livedOnMs: Math.round(performance.now() - settledAt) }));
await Promise.all(JSON.parse(process.argv[2] ?? "[]").map(serve));
settledAt = performance.now();

async function serve({ does, brokers, stopsWhen, module = "./workers-module.mjs", ...options }) {
  const url = new URL(module, import.meta.url);
  url.searchParams.set("do", does);
  if (brokers !== undefined) {
    url.searchParams.set("brokers", brokers);
  }
  const consumer = createConsumer({ groupId: "g", topics: ["orders"], shutdownTimeoutMs: 1_000, module: url, ...options });
  const stopped = stopsWhen === "idle" ? consumer.stop() : null;
  const settled = consumer.run().then(
    () => ({ error: null }),
    (error) => ({ error, cause: error.cause?.message ?? null }),
  );
  say(does, "started", {});
  if (stopsWhen === "connecting") {
    await consumer.stop();
  }
  const isOver = settled.then(() => true);
  while (!isReady(consumer.health()) && (await Promise.race([isOver, pass(20, false)])) !== true) {}
  say(does, "ready", {});
  const reasons = new Set();
  while ((await Promise.race([isOver, pass(100, false)])) !== true) {
    consumer.health().reasons.forEach((reason) => reasons.add(reason));
  }
  const outcome = await settled;
  await stopped;
  say(does, "settled", { ...outcome, health: consumer.health(), reasons: [...reasons] });
}

function isReady({ ready, workers }) {
  return ready && workers.every(({ assigned }) => assigned.length > 0);
}

function say(does, what, line) {
  process.stdout.write(`${JSON.stringify({ does, what, ...line })}\n`);
}
