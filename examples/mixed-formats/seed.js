// Writes the orders of seed.sql as Protobuf, as Debezium with Confluent's converter does, and one record that is cut off.
import { Kafka } from "kafkajs";
import protobuf from "protobufjs";
import { addresses } from "./addresses.js";

const schema = `syntax = "proto3";

message Envelope {
  Row before = 1;
  Row after = 2;
  Source source = 3;
  string op = 4;
  int64 ts_ms = 5;
}
message Row {
  int64 id = 1;
  string customer = 2;
  int32 quantity = 3;
  string price = 4;
  string placed_at = 5;
}
message Source {
  string version = 1;
  string connector = 2;
  string name = 3;
  int64 ts_ms = 4;
  string db = 5;
  string schema = 6;
  string table = 7;
  int64 lsn = 8;
}
`;
const orders = [
  { id: 1, customer: "Ada", quantity: 2, price: "10.50", placed_at: "2026-01-31T08:00:00.5" },
  { id: 2, customer: "Grace", quantity: 5, price: "3.20", placed_at: "2026-01-31T08:05:00" },
  { id: 3, customer: "Katherine", quantity: 12, price: "99.00", placed_at: "2026-01-31T08:10:00" },
  { id: 4, customer: "Margaret", quantity: 5000, price: "0.10", placed_at: "2026-01-31T08:15:00" },
];

const { brokers, registryUrl } = addresses();
const kafka = new Kafka({ brokers });
const [admin, producer] = [kafka.admin(), kafka.producer()];
await Promise.all([admin.connect(), producer.connect()]);
const topic = "pb.shop.orders";
// Not for a second start of the example: its records are there.
if (await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true })) {
  const id = await register(`${topic}-value`);
  const messages = orders.map((order) => ({ key: JSON.stringify({ id: order.id }), value: framed(id, envelopeOf(order)) }));
  await producer.send({ topic, messages });
  await producer.send({ topic: "jn.shop.orders", messages: [{ key: `{"id":5}`, value: `{"before":null,"after":{"id":5,"customer":"Do` }] });
}
await Promise.all([admin.disconnect(), producer.disconnect()]);

/** @param {string} subject */
async function register(subject) {
  const response = await fetch(`${registryUrl}/subjects/${subject}/versions`, {
    method: "POST",
    headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
    body: JSON.stringify({ schemaType: "PROTOBUF", schema }),
  });
  if (!response.ok) throw new Error(`the registry refused the schema: HTTP ${response.status} ${await response.text()}`);
  return /** @type {{ id: number }} */ (await response.json()).id;
}

/** @param {object} after */
function envelopeOf(after) {
  const now = Date.now();
  const source = { version: "3.5.0.Final", connector: "postgresql", name: "pb", ts_ms: now, db: "sales", schema: "shop", table: "orders" };
  return { after, source: { ...source, lsn: 1 }, op: "c", ts_ms: now };
}

/**
 * A zero and the schema's id, a zero for the first message of the schema, and the message.
 * @param {number} id
 * @param {object} envelope
 */
function framed(id, envelope) {
  const prefix = Buffer.alloc(6);
  prefix.writeInt32BE(id, 1);
  const type = protobuf.parse(schema, { keepCase: true }).root.lookupType("Envelope");
  return Buffer.concat([prefix, type.encode(envelope).finish()]);
}
