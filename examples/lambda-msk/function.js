// The function that is deployed to Lambda: this file alone, as `function.handler`.
import { createLambdaHandler } from "@cdckit/lambda";
import pino from "pino";

/** @typedef {{ id: number, customer: string, amount: string }} Payment */

const logger = pino();
const registryUrl = process.env["SCHEMA_REGISTRY_URL"] || null; // without one, messages have to carry their schema or need none

/** How often the bank was asked about a payment. @type {Map<number, number>} */
const asked = new Map();

/** @param {Payment} payment */
async function book({ id, customer, amount }) {
  const times = (asked.get(id) ?? 0) + 1;
  asked.set(id, times);
  if (customer === "Mallory" && times < 3) {
    throw new Error(`the bank of payment ${id} does not answer`); // this record, and the later ones of its partition, come again
  }
  logger.info({ id, customer, amount, times }, "booked");
}

export const handler = createLambdaHandler({ ...(registryUrl === null ? {} : { registry: { url: registryUrl } }), logger }).on(
  "shop.payments",
  {
    /** @param {{ readonly after: Payment }} event */
    create: ({ after }) => book(after),
    /** @param {{ readonly after: Payment }} event */
    read: ({ after }) => book(after),
  },
);
