import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.tools.consumer.ConsoleConsumer;
import org.apache.kafka.tools.consumer.ConsoleConsumerOptions;

/**
 * Writes with Kafka's own producer what record-batch.test.ts reads, and prints what Kafka's own consumer reads of it: WriteRecords BROKERS
 * PREFIX, on the class path of the broker. What the console consumer prints of the transactions comes last. The topics exist: PREFIX and a compression, and PREFIX-transactions.
 */
public class WriteRecords {
  private static final String SEPARATOR = "\u0001";
  /** After this line comes what the console consumer prints. */
  private static final String CONSOLE = "console";

  public static void main(String[] args) throws Exception {
    String brokers = args[0];
    String prefix = args[1];
    for (String compression : new String[] {"none", "gzip", "snappy", "lz4", "zstd"}) {
      try (KafkaProducer<byte[], byte[]> producer = producer(brokers, Map.of("compression.type", compression, "linger.ms", "5"))) {
        for (int i = 0; i < 300; i++) {
          producer.send(record(prefix + "-" + compression, i));
          if (i % 100 == 99) {
            producer.flush();
          }
        }
      }
    }
    writeTransactions(brokers, prefix + "-transactions");
    int committed = print(brokers, prefix, List.of("none", "gzip", "snappy", "lz4", "zstd", "transactions"));
    System.out.println(CONSOLE);
    ConsoleConsumer.run(
        new ConsoleConsumerOptions(
            new String[] {
              "--bootstrap-server", brokers, "--topic", prefix + "-transactions", "--partition", "0", "--offset", "earliest",
              "--isolation-level", "read_committed", "--max-messages", String.valueOf(committed)
            }));
    System.out.flush();
  }

  /**
   * Prints every committed record of the topics: a line each, its parts between SEPARATOR. Returns how many the last topic has. One consumer
   * reads them all, because making one takes longer than reading.
   */
  private static int print(String brokers, String prefix, List<String> names) throws Exception {
    List<TopicPartition> partitions = names.stream().map(name -> new TopicPartition(prefix + "-" + name, 0)).toList();
    TopicPartition last = partitions.get(partitions.size() - 1);
    Properties properties = new Properties();
    properties.put("bootstrap.servers", brokers);
    properties.put("isolation.level", "read_committed");
    properties.put("max.partition.fetch.bytes", "1000"); // several responses, so that transactions reach over their ends
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    int count = 0;
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
        ConsumerRecords<byte[], byte[]> polled = consumer.poll(Duration.ofMillis(100));
        count += polled.records(last).size();
        for (ConsumerRecord<byte[], byte[]> record : polled) {
          out.println(lineOf(record));
        }
      }
    }
    out.flush();
    return count;
  }

  private static String lineOf(ConsumerRecord<byte[], byte[]> record) {
    List<String> parts = new ArrayList<>(List.of(record.topic(), String.valueOf(record.offset()), String.valueOf(record.timestamp())));
    parts.add(record.leaderEpoch().map(String::valueOf).orElse("NULL"));
    parts.add(text(record.key()));
    parts.add(text(record.value()));
    for (Header header : record.headers()) {
      parts.add(header.key());
      parts.add(text(header.value()));
    }
    return String.join(SEPARATOR, parts);
  }

  private static String text(byte[] bytes) {
    return bytes == null ? "NULL" : new String(bytes, StandardCharsets.UTF_8);
  }

  /** Three producers in turns, with transactions that overlap, and every third one aborted. A producer without transactions in between. */
  private static void writeTransactions(String brokers, String topic) throws Exception {
    List<KafkaProducer<byte[], byte[]>> producers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      KafkaProducer<byte[], byte[]> producer = producer(brokers, Map.of("transactional.id", topic + "-" + i, "compression.type", i == 1 ? "lz4" : "none"));
      producer.initTransactions();
      producer.beginTransaction();
      producers.add(producer);
    }
    try (KafkaProducer<byte[], byte[]> plain = producer(brokers, Map.of())) {
      int ended = 0;
      for (int i = 0; i < 60; i++) {
        KafkaProducer<byte[], byte[]> producer = producers.get(i % 3);
        producer.send(record(topic, i)).get();
        if (i % 10 == 0) {
          plain.send(record(topic, 1_000 + i)).get();
        }
        if (i % 5 == 4) {
          if (ended++ % 3 == 0) {
            producer.commitTransaction();
          } else {
            producer.abortTransaction();
          }
          producer.beginTransaction();
        }
      }
    }
    for (int i = 0; i < 3; i++) {
      if (i == 1) {
        producers.get(i).commitTransaction();
      } else {
        producers.get(i).abortTransaction();
      }
      producers.get(i).close();
    }
  }

  private static ProducerRecord<byte[], byte[]> record(String topic, int i) {
    byte[] key = i % 11 == 0 ? null : bytes("key " + i % 17);
    byte[] value = i % 13 == 0 ? null : bytes("value " + i + " " + "x".repeat(i % 50));
    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, 1_700_000_000_000L + i * 1_001L, key, value);
    if (i % 3 == 0) {
      record.headers().add(new RecordHeader("number", bytes(String.valueOf(i))));
      record.headers().add(new RecordHeader("naïve", bytes("é")));
    }
    return record;
  }

  private static KafkaProducer<byte[], byte[]> producer(String brokers, Map<String, String> more) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", brokers);
    properties.put("retry.backoff.ms", "10"); // a transaction that begins while the one before it is being ended tries again
    properties.putAll(more);
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
