/** A file of a user's: it compiles if the types of the packages resolve, and runs as it was compiled. */
import { createConsumer, createDecoder, isDecodeError, kafkajs, type CdcEvent, type Consumer } from "cdckit";

interface Product {
  readonly id: number;
  readonly name: string;
}

export function consumerOf(brokers: string[]): Consumer {
  const consumer = createConsumer({ driver: kafkajs({ brokers }), groupId: "stock", topics: ["shop.inventory.products"], logger: false });
  consumer.on<Product>("inventory.products", { create: ({ after }) => console.log(after.name.toUpperCase()) });
  // @ts-expect-error A row has the columns that its type names. Types that did not resolve would allow any.
  consumer.on<Product>("inventory.products", { create: ({ after }) => console.log(after.price) });
  return consumer;
}

/** Compiles without `esnext.disposable` in `lib`. */
export async function runBriefly(brokers: string[]): Promise<void> {
  await using consumer = consumerOf(brokers);
  await consumer.run({ signal: AbortSignal.timeout(1) });
}

function namesOf(events: readonly CdcEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === "change" ? [event.table.name] : []));
}

async function main(): Promise<void> {
  const record = { topic: "shop.inventory.products", partition: 0, offset: 0n, timestamp: 0n, headers: [], key: null };
  const decoder = createDecoder();
  console.log(...namesOf(await decoder.decode({ ...record, value: Buffer.from(`{"id":1,"__op":"c"}`) })));
  try {
    await decoder.decode({ ...record, value: Buffer.from(`{"id":`) });
  } catch (error) {
    console.log(isDecodeError(error) ? error.code : error);
  }
}

void main();
