// Keeps a copy of a table in another schema of PostgreSQL. Kill it at any moment: each change is applied once all the same.
import { createServer } from "node:http";
import { postgres } from "@cdckit/postgres";
import { createConsumer, kafkajs } from "cdckit";
import { addresses } from "./addresses.js";

const { brokers, registryUrl, connectionString } = addresses();
const topic = process.argv[2] ?? "av.sales.salesorderdetail";

const consumer = createConsumer({
  driver: kafkajs({ brokers }),
  groupId: "postgres-copy",
  topics: [topic],
  registry: { url: registryUrl },
  health: { stuckAfterMs: 30_000 },
});
consumer.to(postgres({ connectionString, schema: "copy", create: true, widen: true }), {
  tables: ["sales.salesorderdetail"],
  batch: { maxEvents: 1_000, maxMs: 200 },
});

const server = createServer((_, response) => {
  const { ready, reasons, assigned } = consumer.health();
  const lag = assigned.map((partition) => partition.lag?.toString() ?? null);
  response.writeHead(ready ? 200 : 503).end(JSON.stringify({ ready, reasons, lag }));
});
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`copying ${topic} to copy.salesorderdetail; health on http://127.0.0.1:${port}`);
});

await consumer.run().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
server.close();
