import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import net.jpountz.lz4.LZ4FrameOutputStream;
import net.jpountz.lz4.LZ4FrameOutputStream.FLG.Bits;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.utils.ByteBufferOutputStream;

/** Writes the vectors of this folder: WriteVectors TARGET_FOLDER ROWS_FILE, on the class path of Kafka 4.3.1. */
public class WriteVectors {
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    byte[] noise = new byte[3000];
    new Random(7).nextBytes(noise);
    Map<String, byte[]> inputs = new LinkedHashMap<>();
    inputs.put("rows", Files.readAllBytes(Path.of(args[1])));
    inputs.put("noise", noise);
    inputs.put("zeros", new byte[60000]);
    inputs.put("short", "a".getBytes());
    for (Map.Entry<String, byte[]> input : inputs.entrySet()) {
      write(folder, input.getKey(), input.getValue());
    }
  }

  private static void write(Path folder, String name, byte[] bytes) throws Exception {
    // As Kafka's producer and broker write a batch.
    for (CompressionType type : CompressionType.values()) {
      if (type != CompressionType.NONE) {
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        try (OutputStream stream = Compression.of(type).build().wrapForOutput(out, (byte) 2)) {
          stream.write(bytes);
        }
        ByteBuffer buffer = out.buffer();
        buffer.flip();
        byte[] compressed = new byte[buffer.remaining()];
        buffer.get(compressed);
        Files.write(folder.resolve(name + "." + type.name), compressed);
      }
    }
    // As other clients may.
    Files.write(folder.resolve(name + ".snappy-raw"), org.xerial.snappy.Snappy.compress(bytes));
    Files.write(folder.resolve(name + ".zstd-sized"), com.github.luben.zstd.Zstd.compress(bytes, 19));
    ByteArrayOutputStream lz4 = new ByteArrayOutputStream();
    try (OutputStream stream = new LZ4FrameOutputStream(lz4, LZ4FrameOutputStream.BLOCKSIZE.SIZE_64KB, bytes.length,
        Bits.CONTENT_CHECKSUM, Bits.CONTENT_SIZE, Bits.BLOCK_INDEPENDENCE, Bits.BLOCK_CHECKSUM)) {
      stream.write(bytes);
    }
    Files.write(folder.resolve(name + ".lz4-checksums"), lz4.toByteArray());
  }
}
