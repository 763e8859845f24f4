import { randomUUID } from "node:crypto";
import { ConfluentSchemaRegistry, Consumer, jsonDeserializer } from "@platformatic/kafka";
import avsc from "avsc";
import { bigintLongs } from "../avsc-peer.ts";
import { recorded } from "../corpus.ts";
import { Pass, type PassOptions, type PassResult, readChange } from "./pass.ts";

/** The stream of @platformatic/kafka, with its own deserializers: JSON.parse, or those of its registry. */
export async function consumeWithPlatformatic(options: PassOptions): Promise<PassResult> {
  const pass = new Pass(options);
  const deserializers = options.format === "confluent-avro" ? await avroDeserializers(options.registryUrl) : jsonDeserializers;
  const consumer = new Consumer<unknown, unknown, string, string>({
    clientId: "bench",
    groupId: `bench-${randomUUID()}`,
    bootstrapBrokers: [options.brokers],
    deserializers: deserializers as never, // typed for keys, values and headers of one type
  });
  const stream = await consumer.consume({ topics: [options.topic], mode: "earliest", autocommit: true });
  const failed = new Promise<never>((_, reject) => {
    stream.on("error", reject);
  });
  stream.on("data", ({ key, value }) => {
    pass.start();
    pass.count(readChange(key, payloadOf(value)));
  });
  const result = await Promise.race([pass.finished, failed]);
  failed.catch(() => {}); // closing may end a fetch with an error, which is after the end
  await new Promise<void>((resolve) => {
    consumer.close(true, () => resolve());
  });
  return result;
}

const jsonDeserializers = { key: jsonDeserializer, value: jsonDeserializer };

/**
 * Those of its registry, after the schema is loaded. With the option `registry` it asks for each message of a fetch whether the schema is there, each
 * time deeper in the stack, which overflows at some thousands. And the registry has no option for avsc's types: avsc throws on Debezium's ts_ns,
 * which is above 2^53, so the loaded schema gets a long type that does not.
 */
async function avroDeserializers(registryUrl: string): Promise<object> {
  const { records } = await recorded("confluent-avro");
  const [first] = records;
  const id = Buffer.from(first?.value ?? []).readInt32BE(1);
  const registry = new ConfluentSchemaRegistry({ url: registryUrl });
  await new Promise<void>((resolve, reject) => {
    void registry.fetchSchema(id, (error) => (error ? reject(error) : resolve()));
  });
  const loaded = registry.get(id) as { schema: avsc.Type };
  loaded.schema = avsc.Type.forSchema(loaded.schema.schema({ exportAttrs: true }), { typeHook: bigintLongs });
  return registry.getDeserializers();
}

/** Debezium's envelope: the payload, if its schema was written beside it. */
function payloadOf(value: unknown): unknown {
  return (value as { readonly payload?: unknown }).payload ?? value;
}
