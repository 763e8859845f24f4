// node index.js before | after | compare (by default): the consumer before, the one after, or both side by side in groups of their own.
import { fastifyCdc } from "@cdckit/fastify";
import fastify, { LogController } from "fastify";
import pino from "pino";
import { addresses } from "./addresses.js";
import { createAfter } from "./after.js";
import { createBefore } from "./before.js";
import { compareSeen, SeenList } from "./seen.js";

const mode = process.argv[2] ?? "compare";
const groupId = process.env["GROUP_ID"] ?? "payments";
const logger = pino();
const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
const seen = { before: new SeenList(), after: new SeenList() };

switch (mode) {
  case "before":
    await runBefore(groupId);
    break;
  case "after":
    await runAfter(groupId);
    break;
  case "compare":
    await runBefore(`${groupId}-compare-before`);
    await runAfter(`${groupId}-compare-after`);
    break;
  default:
    console.error(`expected before, after or compare, found ${mode}: npm run example -- migrate after`);
    process.exit(2);
}
app.get("/seen", () => ({ before: seen.before.list, after: seen.after.list }));
app.get("/compare", () => compareSeen(seen.before.list, seen.after.list));
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });

/** @param {string} groupId */
async function runBefore(groupId) {
  const { brokers, registryUrl } = addresses();
  const before = createBefore({ brokers, registryUrl, groupId, logger, seen: seen.before });
  await before.start().catch((error) => {
    const help = "Start the stack (npm run stack:up, or npm run example, which does it), or set KAFKA_BROKERS";
    logger.fatal(`Kafka at ${brokers.join(",")} cannot be read: ${error.message}. ${help}`);
    process.exit(1);
  });
  app.addHook("onClose", () => before.stop());
  if (mode !== "before") return;
  // What fastifyCdc does for the one after: probes, and a stop that commits.
  app.get("/healthz", () => ({ live: true }));
  app.get("/readyz", (_, reply) => reply.code(before.isReady() ? 200 : 503).send({ ready: before.isReady() }));
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void app.close()); // not once: npm passes a Ctrl-C on a second time
}

/** Until SIGTERM or Ctrl-C, with /healthz and /readyz. @param {string} groupId */
async function runAfter(groupId) {
  const consumer = createAfter({ ...addresses(), groupId, logger, seen: seen.after });
  await app.register(fastifyCdc, { consumer, onEnd: (error) => void (process.exitCode = error === null ? 0 : 1) });
}
