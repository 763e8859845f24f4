// Follows a table and prints its changes. Ctrl-C stops it: what is in flight is handled and committed first.
import { createConsumer, kafkajs } from "cdckit";
import { connections } from "./addresses.js";

const { connection, registry, groupId = "quickstart" } = connections();
const topic = process.argv[2] ?? "av.sales.salesorderdetail"; // js.* is JSON with schema, jn.* plain JSON: nothing else changes

/** @typedef {{ id: number, orderqty: number, unitprice: string, linetotal: string }} OrderDetail */

const consumer = createConsumer({
  driver: kafkajs(connection),
  groupId,
  topics: [topic],
  registry,
});

/** @type {import("cdckit").TableHandlers<OrderDetail>} */
const orderDetails = {
  create: ({ after }) => console.log(`+ ${after.id}: ${after.orderqty} x ${after.unitprice} = ${after.linetotal}`),
  update: ({ before, after }) =>
    console.log(`~ ${after.id}: ${before?.orderqty} x ${before?.unitprice} -> ${after.orderqty} x ${after.unitprice}`),
  delete: ({ before, key }) => console.log(`- ${(before ?? key)?.id}`),
  read: ({ after }) => console.log(`= ${after.id}: was there before`),
};
consumer.on("sales.salesorderdetail", orderDetails);

console.log(`following ${topic} on ${connection.brokers}`);
await consumer.run().catch((error) => {
  console.error(error); // whole: its message says where, its cause why, and helpUrl what to do
  process.exitCode = 1;
});
