import { CompressionTypes, Kafka, logLevel, type Message, Partitioners } from "kafkajs";
import { type Flow, flowPartitions, type FlowTopic, messageAt, sizeOf } from "./flow-records.ts";

/** Of a produced batch before it is compressed; Kafka refuses a message of more than a mebibyte, and what is compressed counts. */
const bytesPerBatch = 900_000;

/** Creates the topics and writes all of them, compressed. */
export async function produceFlow(brokers: string, { topics }: Flow): Promise<void> {
  const client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  await admin.connect();
  await admin.createTopics({ topics: topics.map(({ name }) => ({ topic: name, numPartitions: flowPartitions })), waitForLeaders: true });
  await admin.disconnect();
  const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  for (const topic of topics) {
    await Promise.all(Array.from({ length: flowPartitions }, (_, partition) => fill(topic, partition)));
  }
  await producer.disconnect();

  async function fill(topic: FlowTopic, partition: number): Promise<void> {
    let [messages, bytes]: [Message[], number] = [[], 0];
    for (let offset = 0; offset < topic.recordsPerPartition; offset++) {
      const message = messageAt(topic, partition, offset);
      messages.push({ key: message.key as Buffer | null, value: message.value as Buffer | null, partition }); // as recordings are read
      bytes += sizeOf(message);
      if (bytes >= bytesPerBatch || offset === topic.recordsPerPartition - 1) {
        await producer.send({ topic: topic.name, messages, compression: CompressionTypes.GZIP });
        [messages, bytes] = [[], 0];
      }
    }
  }
}
