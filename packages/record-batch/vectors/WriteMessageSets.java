import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecords.RecordFilter;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.BufferSupplier;

/** Prints message-sets.ndjson: WriteMessageSets, on the class path of kafka-clients 3.9.2. */
public class WriteMessageSets {
  private static final long TIME = 1_467_331_200_000L;
  private static final long APPEND_TIME = 1_467_340_000_123L;

  public static void main(String[] args) throws Exception {
    for (byte magic : new byte[] {0, 1}) {
      for (CompressionType type : List.of(CompressionType.NONE, CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4)) {
        String name = "format " + magic + ", " + type.name;
        print(name, written(magic, type, TimestampType.CREATE_TIME, 40, 3, 1));
        print(name + ", after compaction", compacted(written(magic, type, TimestampType.CREATE_TIME, 1_000, 20, 1)));
        if (type != CompressionType.NONE) {
          print(name + ", a long value", longValue(magic, type));
        }
        if (magic == 1) {
          print(name + ", log append time", written(magic, type, TimestampType.LOG_APPEND_TIME, 7, 3, 1));
        }
      }
    }
    print("format 0, then 1, then 2", joined(
        written((byte) 0, CompressionType.NONE, TimestampType.CREATE_TIME, 0, 2, 1),
        written((byte) 0, CompressionType.GZIP, TimestampType.CREATE_TIME, 2, 3, 1),
        written((byte) 1, CompressionType.NONE, TimestampType.CREATE_TIME, 5, 2, 1),
        written((byte) 1, CompressionType.LZ4, TimestampType.LOG_APPEND_TIME, 7, 3, 1),
        written((byte) 2, CompressionType.GZIP, TimestampType.CREATE_TIME, 10, 3, 1),
        written((byte) 2, CompressionType.NONE, TimestampType.CREATE_TIME, 13, 2, 1)));
    print("format 2, then 1, then 2, then 0", joined(
        written((byte) 2, CompressionType.NONE, TimestampType.CREATE_TIME, 0, 2, 1),
        written((byte) 1, CompressionType.SNAPPY, TimestampType.CREATE_TIME, 2, 3, 1),
        written((byte) 2, CompressionType.LZ4, TimestampType.CREATE_TIME, 5, 3, 1),
        written((byte) 0, CompressionType.NONE, TimestampType.CREATE_TIME, 8, 2, 1)));
  }

  private static ByteBuffer written(byte magic, CompressionType type, TimestampType timestampType, long firstOffset, int count, int step) {
    ByteBuffer buffer = ByteBuffer.allocate(16_384);
    MemoryRecordsBuilder builder =
        MemoryRecords.builder(buffer, magic, Compression.of(type).build(), timestampType, firstOffset, APPEND_TIME);
    for (int i = 0; i < count; i++) {
      byte[] key = i % 5 == 3 ? null : ("key " + i).getBytes();
      byte[] value = i % 5 == 1 ? null : i % 5 == 4 ? new byte[0] : ("{\"after\":{\"id\":" + i + "}}").getBytes();
      builder.appendWithOffset(firstOffset + (long) i * step, TIME + 1_000L * i, key, value);
    }
    return slice(builder.build());
  }

  private static ByteBuffer longValue(byte magic, CompressionType type) {
    byte[] value = new byte[70_000];
    Random random = new Random(7);
    for (int i = 0; i < value.length; i++) {
      value[i] = (byte) (i % 1_000 < 10 ? random.nextInt(256) : 'a' + i / 1_000 % 26);
    }
    MemoryRecordsBuilder builder =
        MemoryRecords.builder(ByteBuffer.allocate(16_384), magic, Compression.of(type).build(), TimestampType.CREATE_TIME, 5_000_000_000L, -1);
    builder.appendWithOffset(5_000_000_000L, TIME, "long".getBytes(), value);
    builder.appendWithOffset(5_000_000_001L, TIME - 1, null, "short".getBytes());
    return slice(builder.build());
  }

  /** As the broker's log cleaner does it: every third record is dropped, and the first. */
  private static ByteBuffer compacted(ByteBuffer bytes) {
    RecordFilter filter = new RecordFilter(0, 0) {
      @Override
      protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
        return new BatchRetentionResult(BatchRetention.DELETE_EMPTY, false);
      }

      @Override
      protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
        return record.offset() % 3 != 0 && record.offset() != 1_000 && record.offset() != 1_019;
      }
    };
    ByteBuffer kept = ByteBuffer.allocate(16_384);
    MemoryRecords.readableRecords(bytes)
        .filterTo(new TopicPartition("topic", 0), filter, kept, Integer.MAX_VALUE, BufferSupplier.NO_CACHING);
    kept.flip();
    return kept;
  }

  private static ByteBuffer joined(ByteBuffer... parts) {
    ByteBuffer whole = ByteBuffer.allocate(65_536);
    for (ByteBuffer part : parts) {
      whole.put(part);
    }
    whole.flip();
    return whole;
  }

  private static ByteBuffer slice(MemoryRecords records) {
    return records.buffer().duplicate();
  }

  /** The bytes, and what Kafka's own reader finds in them. */
  private static void print(String name, ByteBuffer bytes) throws Exception {
    List<String> records = new ArrayList<>();
    long nextOffset = -1;
    byte[] copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(copy)).batches()) {
      batch.ensureValid();
      nextOffset = batch.nextOffset();
      for (Record record : batch) {
        record.ensureValid();
        records.add("{\"offset\":" + record.offset() + ",\"timestamp\":" + record.timestamp()
            + ",\"key\":" + inJson(record.key()) + ",\"value\":" + inJson(record.value()) + "}");
      }
    }
    System.out.println("{\"name\":\"" + name + "\",\"bytes\":\"" + Base64.getEncoder().encodeToString(copy)
        + "\",\"nextOffset\":" + nextOffset + ",\"records\":[" + String.join(",", records) + "]}");
  }

  /** A long value would be repeated in the file: its hash is enough. */
  private static String inJson(ByteBuffer bytes) throws Exception {
    if (bytes == null) {
      return "null";
    }
    byte[] copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    return copy.length > 1_000
        ? "{\"sha256\":\"" + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(copy)) + "\"}"
        : "\"" + Base64.getEncoder().encodeToString(copy) + "\"";
  }
}
