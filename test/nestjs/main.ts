// A process with the app of `app.ts`, which ends with its consumer by `closeWithConsumer`. `contract.test.ts` bundles and runs it.
import { once } from "node:events";
import { silentLogger } from "@cdckit/consumer";
import { closeWithConsumer } from "@cdckit/nestjs";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { appOf } from "./app.ts";

const [, , set, gate] = process.argv;
const broker = new MemoryBroker({ "shop.public.orders": 1 });
const { app, cdc, journal } = await appOf(set as "orders" | "pools" | "none", {
  driver: memory({ broker }),
  groupId: "nest",
  topics: ["shop.public.orders"],
  logger: silentLogger,
  shutdownTimeoutMs: 100,
});
journal.onLine = (line) => console.log(line);
if (gate === "signal" || gate === "close and signal") {
  const waiting = setInterval(() => {}, 60_000); // a listener for a signal does not keep the process
  journal.gate = once(process, "SIGTERM").then(() => clearInterval(waiting));
}
if (gate === "handler") {
  broker.append("shop.public.orders", {
    value: Buffer.from('{"before":null,"after":{"id":1},"op":"c","source":{"connector":"postgresql","schema":"public","table":"orders"}}'),
  });
  journal.handling = new Promise(() => {}); // it never ends
}
app.useLogger(false);
closeWithConsumer(app);
void cdc.ended.then(() => console.log("closing"));
await app.init();
console.log("running");
if (gate === "close" || gate === "close and signal") {
  await app.close();
}
