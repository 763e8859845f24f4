/*
 * What every project does, however it has loaded the packages: it decodes recorded messages of a real Debezium, consumes them, and
 * consumes a topic of a real Kafka if it is given one. CommonJS without imports: every project can load it.
 */
exports.whatUsersDo = async (cdckit, { bundledRecording, loadRecording, memory, recording }) => {
  const { createDecoder, fromBundle } = cdckit;
  const said = {};
  for (const format of ["json-with-schema", "json", "confluent-avro"]) {
    const { file, schemasFile } = bundledRecording(`salesorderdetail/${format}`);
    const decoder = createDecoder({ schemas: await fromBundle(schemasFile) });
    const events = [];
    for (const record of await loadRecording(file)) {
      events.push(...(await decoder.decode(record)));
    }
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(events)));
    said[format] = `${events.length} events ${Buffer.from(digest).toString("hex")}`;
  }
  const { file } = bundledRecording("salesorderdetail/json");
  said.recording = await idsOf(cdckit, recording({ file }), "jn.sales.salesorderdetailbig", 5);
  // What Node throws is of another realm than the packages in Jest.
  said.mistake = await fateOf(cdckit, memory, () => Buffer.alloc("many"));
  said.timeOut = await fateOf(cdckit, memory, () => {
    throw new DOMException("no answer", "TimeoutError"); // as the reason of AbortSignal.timeout
  });
  const { KAFKA_BROKERS: brokers, KAFKA_TOPIC: topic } = process.env;
  if (brokers !== undefined && topic !== undefined) {
    said.kafka = await idsOf(cdckit, cdckit.kafkajs({ brokers: [brokers], maxWaitMs: 100 }), topic, 5);
  }
  return said;
};

/** What becomes of a record whose handler fails. */
async function fateOf({ createConsumer }, memory, fail) {
  const driver = memory({ topics: { orders: 1, "dead-letters": 1 } });
  driver.broker.append("orders", { value: '{"id":1,"__op":"c"}' }, { value: null });
  const failure = { poison: "dead-letter", deadLetterTopic: "dead-letters", retry: { attempts: 2, initialDelayMs: 1 } };
  const consumer = createConsumer({ driver, groupId: "fates", topics: ["orders"], signals: false, logger: false, failure });
  let attempts = 0;
  const create = async () => {
    attempts++;
    await fail();
  };
  consumer.on("orders", { create, tombstone: () => void consumer.stop() });
  const code = await consumer.run().then(
    () => "handled",
    (error) => error.code,
  );
  return `${attempts} attempts, ${driver.broker.read("dead-letters", 0, 0n, 10).length} dead letters, ${code}`;
}

/** The ids of the first changes of a topic. */
async function idsOf({ createConsumer }, driver, topic, count) {
  const ids = [];
  const groupId = `projects-${process.pid}-${process.hrtime.bigint()}`;
  const consumer = createConsumer({ driver, groupId, topics: [topic], from: "earliest", signals: false, logger: false });
  consumer.on("*", (event) => {
    if (ids.length < count) {
      ids.push(event.after.id);
    }
    if (ids.length === count) {
      void consumer.stop();
    }
  });
  await consumer.run();
  return ids;
}
