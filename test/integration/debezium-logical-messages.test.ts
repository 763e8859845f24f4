import { createDecoder, type DecoderOptions, type KafkaRecord, type MessageEvent } from "@cdckit/decode";
import { createRegistry } from "@cdckit/registry";
import { Kafka, logLevel } from "kafkajs";
import { writeFileSync } from "node:fs";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type Connector,
  connectorValues,
  defaultTables,
  deleteConnector,
  deployConnector,
  fillIn,
  readConnectors,
} from "../../scripts/stack/connectors.mjs";
import { createTopics } from "../../scripts/stack/topics.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { type SharedStack, withStack } from "./stack.ts";

const found = await withStack();

/** What PostgreSQL was given: bytes that base64 and its form for URLs write in two ways. */
const emitted = Buffer.from("68656c6c6ffbff00", "hex");

/** What each mode makes of it where the encoding does not say that it is bytes. */
const written = { bytes: "aGVsbG/7/wA=", base64: "aGVsbG/7/wA=", "base64-url-safe": "aGVsbG_7_wA=", hex: "68656c6c6ffbff00" } as const;
const modes = Object.keys(written) as (keyof typeof written)[];
const formats = ["json-with-schema", "json", "confluent-avro"] as const;
const all = modes.flatMap((mode) =>
  formats.map((format) => ({ mode, format, prefix: `lm${process.pid}_${mode}_${format}`.replaceAll("-", "_") })),
);
type One = (typeof all)[number];

/** How many connectors run at a time: each is a replication slot and a thread of one small Connect. */
const connectorsAtATime = 6;

describe.skipIf(found.skip !== false)(
  "logical messages of PostgreSQL, through Debezium",
  { meta: { skipReason: String(found.skip) } },
  () => {
    let records: ReadonlyMap<string, KafkaRecord> = new Map();

    beforeAll(async () => {
      const topics = all.map(topicOf);
      await createTopics(stack().brokers, topics);
      for (let i = 0; i < all.length; i += connectorsAtATime) {
        await emitTo(stack(), all.slice(i, i + connectorsAtATime));
      }
      records = await consume(stack().brokers, topics);
      const path = process.env["CDCKIT_VECTORS_TO"];
      if (path !== undefined) {
        const lines = await Promise.all(all.map((one) => vectorsOf(stack().registryUrl, one, recordOf(one))));
        writeFileSync(
          path,
          lines
            .flat()
            .map((line) => `${JSON.stringify(line)}\n`)
            .join(""),
        );
      }
    }, 300_000);

    test.each(all)("$format, binary.handling.mode $mode: the content is bytes if the message says so, and its text if not", async (one) => {
      const { content, prefix, kind } = await messageOf(one, {});
      expect({ kind, prefix, content }).toEqual({ kind: "message", prefix: "cdckit", content: contentOf(one) });
    });

    test.each(all)("$format, binary.handling.mode $mode: with the hint it is bytes in each", async (one) => {
      const { content } = await messageOf(one, { topics: { [topicOf(one)]: { binaryHandling: one.mode } } });
      expect(content).toEqual(emitted);
    });

    async function messageOf(one: One, options: DecoderOptions): Promise<MessageEvent> {
      const registry = createRegistry({ url: stack().registryUrl });
      const [event] = await createDecoder({ ...options, schemas: registry }).decode(recordOf(one));
      return event as MessageEvent;
    }

    function recordOf(one: One): KafkaRecord {
      const record = records.get(topicOf(one));
      if (record === undefined) throw new Error(`no record came on ${topicOf(one)}`);
      return record;
    }

    function stack(): SharedStack {
      if (found.skip !== false) throw new Error("unreachable: the suite is skipped");
      return found.part;
    }
  },
);

/** In Avro, and in JSON with its schema, the mode `bytes` says that they are bytes. */
function contentOf({ mode, format }: One): Buffer | string {
  return mode === "bytes" && format !== "json" ? emitted : written[mode];
}

function topicOf({ prefix }: One): string {
  return `${prefix}.message`;
}

async function emitTo(stack: SharedStack, some: readonly One[]): Promise<void> {
  const client = new pg.Client({ ...stack.postgres });
  await client.connect();
  try {
    await Promise.all(some.map((one) => deployConnector(stack.connectUrl, connectorOf(stack, one))));
    const slots = some.map(({ prefix }) => prefix);
    await waitUntil({
      what: `the replication slots ${slots.join(", ")}`,
      deadlineMs: 60_000,
      async check() {
        const { rows } = await client.query("select 1 from pg_replication_slots where active and slot_name = any($1)", [slots]);
        return rows.length === slots.length;
      },
    });
    await client.query("select pg_logical_emit_message(true, 'cdckit', $1::bytea)", [emitted]);
    await consume(stack.brokers, some.map(topicOf));
  } finally {
    await Promise.all(some.map(({ prefix }) => deleteConnector(stack.connectUrl, prefix)));
    await client.end();
  }
}

function connectorOf({ postgres, converterUrl }: SharedStack, { mode, format, prefix }: One): Connector {
  const definition = readConnectors().find(({ name }) => name === format);
  if (definition === undefined) throw new Error(`docker/connectors/${format}.json is gone`);
  const { config } = fillIn(definition, connectorValues(postgres, converterUrl, defaultTables));
  const names = { "topic.prefix": prefix, "slot.name": prefix, "publication.name": prefix };
  return {
    name: prefix,
    config: { ...config, ...names, "slot.drop.on.stop": "true", "snapshot.mode": "no_data", "binary.handling.mode": mode },
  };
}

const formatNames = {
  "json-with-schema": "none+connect-json+debezium",
  json: "none+json+debezium",
  "confluent-avro": "confluent+avro+debezium",
} as const;

/** The lines of test/vectors/decode/debezium-logical-messages.ndjson. */
async function vectorsOf(registryUrl: string, one: One, record: KafkaRecord): Promise<readonly object[]> {
  const { mode, format, prefix } = one;
  const isAvro = format === "confluent-avro";
  const ids = isAvro ? [record.key, record.value].map((bytes) => Buffer.from(bytes ?? []).readUInt32BE(1)) : [];
  const bytes = (side: Uint8Array | null): unknown => {
    const own = Buffer.from(side ?? []);
    return isAvro ? { base64: own.toString("base64") } : own.toString();
  };
  const content = contentOf(one);
  const topic = topicOf(one).replace(prefix, "shop");
  const shared = {
    from: "the connector for PostgreSQL, of PostgreSQL 18: pg_logical_emit_message(true, 'cdckit', '\\x68656c6c6ffbff00'::bytea)",
    writtenBy: "Debezium 3.5.0.Final",
    formats: formatNames[format],
    topic,
    key: bytes(record.key),
    value: bytes(record.value),
    ...(isAvro ? { schemas: await Promise.all(ids.map((id) => schemaOf(registryUrl, id))) } : {}),
  };
  const event = { kind: "message", prefix: "cdckit" };
  const inBytes = { $bytes: emitted.toString("hex") };
  return [
    { name: `${format}, ${mode}`, ...shared, event: { ...event, content: typeof content === "string" ? content : inBytes } },
    {
      name: `${format}, ${mode}, with the hint`,
      ...shared,
      options: { topics: { [topic]: { binaryHandling: mode } } },
      event: { ...event, content: inBytes },
    },
  ];
}

async function schemaOf(registryUrl: string, id: number): Promise<object> {
  const answer = (await (await fetch(`${registryUrl}/schemas/ids/${id}`)).json()) as { readonly schema: string };
  return { id, schema: JSON.parse(answer.schema) as unknown };
}

/** The first record of each topic. */
async function consume(brokers: string, topics: readonly string[]): Promise<ReadonlyMap<string, KafkaRecord>> {
  const records = new Map<string, KafkaRecord>();
  const kafka = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `logical-messages-${process.pid}-${topics.length}-${topics[0]}` });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const eachMessage = async ({
        topic,
        partition,
        message,
      }: Parameters<NonNullable<Parameters<typeof consumer.run>[0]>["eachMessage"] & object>[0]): Promise<void> => {
        const { key, value, offset, timestamp } = message;
        if (!records.has(topic))
          records.set(topic, { topic, partition, offset: BigInt(offset), timestamp: BigInt(timestamp), key, value, headers: [] });
        if (records.size === topics.length) resolve();
      };
      consumer.run({ eachMessage }).catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
  return records;
}
