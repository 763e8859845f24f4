// A service for docker/service/Dockerfile: counts the changes of tables. Its settings come from the environment.
import { createServer } from "node:http";
import { createConsumer, kafkajs, readClientEnvironment } from "cdckit";
import { Counter, Registry } from "prom-client";

const { TOPICS, GROUP_ID = "service", PORT = "8080" } = process.env;
if (TOPICS === undefined) {
  console.error("TOPICS must name the topics to follow, with commas between them: TOPICS=av.sales.salesorderdetail");
  process.exit(2);
}
// Brokers, TLS and logins, also of the registry: KAFKA_BROKERS, KAFKA_SASL_USERNAME, SCHEMA_REGISTRY_URL, ...
const { connection, registry } = readClientEnvironment({ KAFKA_BROKERS: "localhost:9092", ...process.env });

const metrics = new Registry();
const changes = new Counter({ name: "service_changes_total", help: "Changes by table", labelNames: ["table", "op"], registers: [metrics] });

const consumer = createConsumer({
  driver: kafkajs(connection),
  registry,
  groupId: GROUP_ID,
  topics: TOPICS.split(","),
  from: "earliest",
  startup: "wait", // brokers may come up later than the service
  shutdownTimeoutMs: 20_000,
  telemetry: { prometheus: metrics },
});
consumer.on("*", (event) => {
  if (event.kind === "change") changes.inc({ table: event.table.name, op: event.op });
});

const server = createServer((request, response) => {
  if (request.url === "/metrics") {
    void metrics.metrics().then((text) => response.writeHead(200, { "content-type": metrics.contentType }).end(text));
    return;
  }
  const health = consumer.health();
  const isWell = request.url === "/live" ? health.live : health.ready;
  response.writeHead(isWell ? 200 : 503, { "content-type": "application/json" }).end(JSON.stringify(health));
}).listen(Number(PORT));

await consumer.run().catch((error) => {
  console.error(error); // whole: its message says where, its cause why, and helpUrl what to do
  process.exitCode = 1;
});
server.close();
server.closeAllConnections();
