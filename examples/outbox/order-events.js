// What may be in the outbox of orders: one schema for the service that writes an event and for those that read it.
import { z } from "zod";

export const orderEvents = {
  OrderPlaced: z.object({ order: z.int(), customer: z.string(), total: z.string() }),
  OrderCancelled: z.object({ order: z.int(), reason: z.string() }),
};

/** @typedef {typeof orderEvents} OrderEvents */

/**
 * Writes an event into the outbox, in the transaction of what it tells of.
 * @template {keyof OrderEvents} Type
 * @param {import("pg").ClientBase} client
 * @param {Type} type
 * @param {import("zod").infer<OrderEvents[Type]>} event
 */
export async function writeEvent(client, type, event) {
  const { order } = orderEvents[type].parse(event);
  const insert = "insert into outbox.events (aggregatetype, aggregateid, type, payload) values ('order', $1, $2, $3) returning id";
  const { rows } = await client.query(insert, [String(order), type, JSON.stringify(event)]);
  // It is in the log of the database already, which is all that Debezium reads: the table stays empty.
  await client.query("delete from outbox.events where id = $1", [rows[0].id]);
}

/**
 * A handler for the records of `outbox.event.order`: one function for each type of event, with what its schema has checked.
 * @param {{ readonly [Type in keyof OrderEvents]: (event: import("zod").infer<OrderEvents[Type]>, id: string) => void | Promise<void> }} handlers
 * @returns {import("cdckit").TableHandlers}
 */
export function handleOrderEvents(handlers) {
  return {
    row: async ({ row, record: { headers } }) => {
      const type = headerText(headers, "eventType");
      const id = headerText(headers, "id");
      if (id === "") throw new TypeError("an event without the header id"); // events without one would all count as the same
      if (type === "OrderPlaced") await handlers.OrderPlaced(orderEvents.OrderPlaced.parse(row), id);
      else if (type === "OrderCancelled") await handlers.OrderCancelled(orderEvents.OrderCancelled.parse(row), id);
      else throw new TypeError(`there is no event ${type}`); // no retry helps: what follows is said by the option `failure`
    },
  };
}

/** @param {import("cdckit").RecordHeaders} headers @param {string} name */
function headerText(headers, name) {
  const bytes = headers.find(([one]) => one === name)?.[1] ?? null;
  return bytes === null ? "" : Buffer.from(bytes).toString();
}
