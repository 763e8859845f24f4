// The same with cdckit.
import { createConsumer, kafkajs } from "cdckit";
import { topics } from "./seen.js";

/** @typedef {{ id: number | bigint, account: string, amount: string, paid_at: string }} Payment */

/**
 * @param {{ brokers: string[], registryUrl: string, groupId: string, logger: import("pino").Logger, seen: import("./seen.js").SeenList }} options
 */
export function createAfter({ brokers, registryUrl, groupId, logger, seen }) {
  const consumer = createConsumer({
    driver: kafkajs({ brokers }),
    groupId,
    topics,
    registry: { url: registryUrl },
    decoder: { topics: { "jn.bank.payments": { columns: typesOfPlainJson } } },
    logger,
  });

  /** @param {import("cdckit").ChangeEvent} event @param {string} op @param {Payment} row */
  const add = ({ record }, op, { id, amount, paid_at }) =>
    seen.add({ topic: record.topic, offset: String(record.offset), op, id: String(id), amount, paidAt: paid_at });

  /** @type {import("cdckit").TableHandlers<Payment>} */
  const payments = {
    read: (event) => add(event, "r", event.after),
    create: (event) => add(event, "c", event.after),
    update: (event) => add(event, "u", event.after),
    delete: ({ record, key }) =>
      seen.add({ topic: record.topic, offset: String(record.offset), op: "d", id: idOf(key), amount: null, paidAt: null }),
  };
  consumer.on("bank.payments", payments);
  return consumer;
}

/** Debezium's JSON without a schema does not say what these columns are; `cdc-bench hints` writes this from the database. */
const typesOfPlainJson = {
  amount: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } },
  paid_at: "io.debezium.time.MicroTimestamp",
};

/** @param {unknown} key */
const idOf = (key) => String(/** @type {{ id: number | bigint }} */ (key).id);
