// A loop in place of handlers: each event becomes a line of a file, and is done when the line is on the disk.
import { open } from "node:fs/promises";
import { createConsumer, kafkajs } from "cdckit";
import { environment, required, say } from "./environment.js";
import type { Tables } from "./orders.js";

const { brokers, registryUrl, topic, groupId } = environment();
const lastId = Number(required("LAST_ID"));

const consumer = createConsumer<Tables>({ driver: kafkajs({ brokers }), groupId, topics: [topic], registry: { url: registryUrl } });
process.on("SIGTERM", () => void consumer.stop()); // stream() listens to no signals

const file = await open(required("FILE"), "a");
try {
  for await (const { event, done } of consumer.stream()) {
    if (event.kind === "change") {
      await file.appendFile(`${JSON.stringify(event)}\n`);
      await file.datasync();
    }
    done();
    if (event.kind === "change" && event.op === "create" && event.after.id === lastId) {
      break;
    }
  }
} finally {
  await file.close();
}
say("stopped", { phase: consumer.health().phase });
