import com.amazonaws.services.schemaregistry.common.configs.GlueSchemaRegistryConfiguration;
import com.amazonaws.services.schemaregistry.serializers.SerializationDataEncoder;
import com.amazonaws.services.schemaregistry.serializers.protobuf.ProtobufWireFormatEncoder;
import com.amazonaws.services.schemaregistry.serializers.protobuf.MessageIndexFinder;
import com.amazonaws.services.schemaregistry.utils.AWSSchemaRegistryConstants;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.message.BinaryMessageEncoder;

/** Prints test/vectors/framing/glue.ndjson ("glue") or avro-files.ndjson ("avro"): see README.md beside this file. */
public class WriteGlueAndAvroVectors {
  static final UUID VERSION = UUID.fromString("b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63");
  static final Schema ORDER = new Schema.Parser().parse(
      "{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"shop\",\"fields\":["
      + "{\"name\":\"id\",\"type\":\"long\"},{\"name\":\"note\",\"type\":[\"null\",\"string\"],\"default\":null}]}");

  public static void main(String[] args) throws Exception {
    if (args[0].equals("glue")) {
      glue();
    } else {
      avro();
    }
  }

  static void glue() throws Exception {
    for (String compression : new String[] {"NONE", "ZLIB"}) {
      SerializationDataEncoder encoder = new SerializationDataEncoder(configuration(compression));
      String from = "software.amazon.glue:schema-registry-serde 1.1.24, compression " + compression;
      byte[] avro = avroBytes(order(1L << 53, "höher"));
      line("Glue Avro, " + compression, from, encoder.write(avro, VERSION), "glue", "\"glue:" + VERSION + "\"", avro, "");
      byte[] json = "{\"id\":9007199254740993,\"note\":\"höher\"}".getBytes(StandardCharsets.UTF_8);
      line("Glue JSON, " + compression, from, encoder.write(json, VERSION), "glue", "\"glue:" + VERSION + "\"", json, "");
      FileDescriptor file = protoFile();
      // Sorted by full name: shop.B, shop.B.A, shop.B.A.D, shop.B.C, shop.Z.
      message(encoder, from, compression, file, file.findMessageTypeByName("B"), 0);
      message(encoder, from, compression, file, file.findMessageTypeByName("B").findNestedTypeByName("A"), 1);
      message(encoder, from, compression, file, file.findMessageTypeByName("B").findNestedTypeByName("C"), 3);
      message(encoder, from, compression, file, file.findMessageTypeByName("Z"), 4);
    }
  }

  static void message(SerializationDataEncoder encoder, String from, String compression, FileDescriptor file, Descriptor type, int index)
      throws Exception {
    DynamicMessage value = DynamicMessage.newBuilder(type).setField(type.findFieldByName("id"), 150L).build();
    byte[] bytes = new ProtobufWireFormatEncoder(new MessageIndexFinder()).encode(value, file);
    line("Glue Protobuf " + type.getFullName() + ", " + compression, from, encoder.write(bytes, VERSION), "glue",
        "\"glue:" + VERSION + "\"", bytes, ",\"choices\":[{\"message\":{\"kind\":\"sorted\",\"index\":" + index + "},\"length\":1}]");
  }

  static FileDescriptor protoFile() throws Exception {
    DescriptorProto d = messageType("D").build();
    DescriptorProto b = messageType("B").addNestedType(messageType("C")).addNestedType(messageType("A").addNestedType(d)).build();
    FileDescriptorProto file = FileDescriptorProto.newBuilder().setName("b.proto").setPackage("shop").setSyntax("proto3")
        .addMessageType(messageType("Z")).addMessageType(b).build();
    return FileDescriptor.buildFrom(file, new FileDescriptor[0]);
  }

  static DescriptorProto.Builder messageType(String name) {
    return DescriptorProto.newBuilder().setName(name).addField(FieldDescriptorProto.newBuilder().setName("id").setNumber(1)
        .setType(FieldDescriptorProto.Type.TYPE_INT64).setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL));
  }

  static GlueSchemaRegistryConfiguration configuration(String compression) {
    Map<String, Object> settings = new HashMap<>();
    settings.put(AWSSchemaRegistryConstants.AWS_REGION, "us-east-1");
    settings.put(AWSSchemaRegistryConstants.COMPRESSION_TYPE, compression);
    return new GlueSchemaRegistryConfiguration(settings);
  }

  static void avro() throws Exception {
    String from = "org.apache.avro:avro 1.11.4, DataFileWriter";
    CodecFactory[] codecs = {CodecFactory.nullCodec(), CodecFactory.deflateCodec(6), CodecFactory.snappyCodec(),
        CodecFactory.zstandardCodec(3)};
    String[] names = {"null", "deflate", "snappy", "zstandard"};
    for (int i = 0; i < codecs.length; i++) {
      container("container file, " + names[i] + ", no value", from, codecs[i], 0);
      container("container file, " + names[i] + ", one value", from, codecs[i], 1);
      container("container file, " + names[i] + ", blocks of several values", from, codecs[i], 25);
      longNote = noise(400);
      container("container file, " + names[i] + ", a value that hardly packs, and repeats", from, codecs[i], 1);
      longNote = "";
    }
    GenericRecord order = order(150, "single");
    java.nio.ByteBuffer written = new BinaryMessageEncoder<GenericRecord>(GenericData.get(), ORDER).encode(order);
    byte[] bytes = new byte[written.remaining()];
    written.get(bytes);
    String fingerprint = String.format("%016x", org.apache.avro.SchemaNormalization.parsingFingerprint64(ORDER));
    line("single object", "org.apache.avro:avro 1.11.4, BinaryMessageEncoder and SchemaNormalization.parsingFingerprint64", bytes,
        "single-object", "\"fingerprint:" + fingerprint + "\"", avroBytes(order), "");
  }

  static String longNote = "";

  static String noise(int length) {
    Random random = new Random(7);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) (33 + random.nextInt(90)));
    }
    return (text + text.substring(0, 300) + "ab".repeat(400) + text).replace("\\", "/");
  }

  /** The values of every block are stated as they are written one after another. */
  static void container(String name, String from, CodecFactory codec, int count) throws Exception {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    StringBuilder payloads = new StringBuilder();
    int inBlock = 0;
    try (DataFileWriter<GenericRecord> writer = new DataFileWriter<>(new GenericDatumWriter<>(ORDER))) {
      writer.setCodec(codec).create(ORDER, file, new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
      for (int i = 0; i < count; i++) {
        GenericRecord order = order(i, longNote + "note note note note note " + i);
        writer.append(order);
        block.write(avroBytes(order));
        inBlock++;
        if (inBlock == 10 || i == count - 1) {
          writer.sync();
          payloads.append(payloads.length() == 0 ? "" : ",").append("{\"payload\":{\"base64\":\"")
              .append(Base64.getEncoder().encodeToString(block.toByteArray())).append("\"},\"count\":").append(inBlock).append("}");
          block.reset();
          inBlock = 0;
        }
      }
    }
    System.out.println("{\"name\":\"" + name + "\",\"from\":\"" + from + "\",\"writtenBy\":\"" + writer(from) + "\",\"value\":{\"base64\":\""
        + Base64.getEncoder().encodeToString(file.toByteArray()) + "\"},\"framing\":\"ocf\",\"schemaId\":null,\"schema\":" + schema()
        + (name.contains("zstandard") && count > 0 ? ",\"needs\":\"zstd\"" : "") + ",\"payloads\":[" + payloads + "]}");
  }

  static String schema() throws Exception {
    byte[] text = ORDER.toString().getBytes(StandardCharsets.UTF_8);
    String digest = String.format("%064x", new BigInteger(1, MessageDigest.getInstance("SHA-256").digest(text)));
    return "{\"id\":\"inline:AVRO:" + digest + "\",\"schemaType\":\"AVRO\",\"schema\":\"" + ORDER.toString().replace("\"", "\\\"") + "\"}";
  }

  static GenericRecord order(long id, String note) {
    GenericRecord order = new GenericData.Record(ORDER);
    order.put("id", id);
    order.put("note", note);
    return order;
  }

  static byte[] avroBytes(GenericRecord order) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    var encoder = EncoderFactory.get().directBinaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(ORDER).write(order, encoder);
    encoder.flush();
    return out.toByteArray();
  }

  static String writer(String from) {
    return from.startsWith("org.apache.avro") ? "Apache Avro (Java) 1.11.4" : "AWS Glue schema-registry-serde 1.1.24";
  }

  static void line(String name, String from, byte[] value, String framing, String id, byte[] payload, String more) {
    Base64.Encoder base64 = Base64.getEncoder();
    System.out.println("{\"name\":\"" + name + "\",\"from\":\"" + from + "\",\"writtenBy\":\"" + writer(from) + "\",\"value\":{\"base64\":\"" + base64.encodeToString(value)
        + "\"},\"framing\":\"" + framing + "\",\"schemaId\":" + id + ",\"payload\":{\"base64\":\"" + base64.encodeToString(payload) + "\"}"
        + more + "}");
  }
}
