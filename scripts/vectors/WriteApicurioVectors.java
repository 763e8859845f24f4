import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.apicurio.registry.serde.Legacy8ByteIdHandler;
import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
import io.apicurio.registry.serde.jsonschema.JsonSchemaKafkaSerializer;
import io.apicurio.registry.serde.protobuf.ProtobufKafkaSerializer;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;

/** Prints what Apicurio's serializers write, with a registry at the first argument (".../apis/registry/v3"): see README.md beside this file. */
public class WriteApicurioVectors {
  static final Schema ORDER = new Schema.Parser().parse(
      "{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"shop\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"},"
      + "{\"name\":\"note\",\"type\":[\"null\",\"string\"],\"default\":null}]}");
  static String url;

  static final String NOTE = "h\u00f6her";

  public static void main(String[] args) throws Exception {
    url = args[0];
    registerJsonSchema();
    GenericRecord order = new GenericData.Record(ORDER);
    order.put("id", 1L << 53);
    order.put("note", NOTE);
    byte[] avro = avroBytes(order);
    Map<String, Object> json = new TreeMap<>(Map.of("id", 7, "note", NOTE));
    byte[] jsonBytes = ("{\"id\":7,\"note\":\"" + NOTE + "\"}").getBytes(StandardCharsets.UTF_8);
    for (String space : new String[] {"contentId", "globalId"}) {
      for (String form : new String[] {"4 bytes", "8 bytes", "headers"}) {
        Map<String, Object> settings = settings(space, form);
        String name = ", " + space + ", " + form;
        write("Avro" + name, new AvroKafkaSerializer<>(), "avro", settings, order, avro, null);
        write("JSON Schema" + name, new JsonSchemaKafkaSerializer<>(), "json", settings, json, jsonBytes, null);
        for (String type : new String[] {"Order", "Item"}) {
          byte[] payload = message(type).toByteArray();
          write("Protobuf " + type + name, new ProtobufKafkaSerializer<>(), "proto", settings, message(type), payload, named(type));
        }
      }
    }
    for (String form : new String[] {"4 bytes", "headers"}) {
      Map<String, Object> plain = settings("contentId", form);
      plain.put("apicurio.registry.serde.send-type-ref", false);
      byte[] first = message("Order").toByteArray();
      String message = form.equals("headers") ? named("Order") : "{\"kind\":\"path\",\"path\":[0]}";
      write("Protobuf without type reference, " + form, new ProtobufKafkaSerializer<>(), "proto", plain, message("Order"), first, message);
    }
    Map<String, Object> asJson = settings("contentId", "headers");
    asJson.put("apicurio.registry.avro.encoding", "JSON");
    byte[] text = ("{\"id\":9007199254740992,\"note\":{\"string\":\"" + NOTE + "\"}}").getBytes(StandardCharsets.UTF_8);
    write("Avro written as JSON, headers", new AvroKafkaSerializer<>(), "avro", asJson, order, text, null);
    System.exit(0);
  }

  static String named(String type) {
    return "{\"kind\":\"name\",\"name\":\"" + type + "\"}";
  }

  static byte[] avroBytes(GenericRecord order) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    var encoder = EncoderFactory.get().directBinaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(ORDER).write(order, encoder);
    encoder.flush();
    return out.toByteArray();
  }

  /** The JSON Schema serializer makes no schemas of maps: it finds this one. */
  static void registerJsonSchema() throws Exception {
    String schema = "{\\\"type\\\":\\\"object\\\",\\\"properties\\\":{\\\"id\\\":{\\\"type\\\":\\\"integer\\\"},\\\"note\\\":{\\\"type\\\":\\\"string\\\"}}}";
    String body = "{\"artifactId\":\"json-value\",\"artifactType\":\"JSON\",\"firstVersion\":{\"content\":{\"content\":\"" + schema
        + "\",\"contentType\":\"application/json\"}}}";
    HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/groups/vectors/artifacts")).header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body)).build();
    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
  }

  /** The id that the registry has given to the artifact of a topic. */
  static String idOf(String topic, String space) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/groups/vectors/artifacts/" + topic + "-value/versions/branch=latest")).build();
    String answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    Matcher matcher = Pattern.compile("\"" + space + "\":(\\d+)").matcher(answer);
    if (!matcher.find()) {
      throw new IllegalStateException(answer);
    }
    return matcher.group(1);
  }

  static Map<String, Object> settings(String id, String form) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("apicurio.registry.url", url);
    settings.put("apicurio.registry.use-id", id);
    settings.put("apicurio.registry.auto-register", true);
    settings.put("apicurio.registry.auto-register.if-exists", "FIND_OR_CREATE_VERSION");
    settings.put("apicurio.registry.artifact.group-id", "vectors");
    settings.put("apicurio.registry.headers.enabled", form.equals("headers"));
    if (form.equals("8 bytes")) {
      settings.put("apicurio.registry.id-handler", Legacy8ByteIdHandler.class.getName());
    }
    return settings;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  static void write(String name, Serializer serializer, String topic, Map<String, Object> settings, Object value, byte[] payload, String message)
      throws Exception {
    Map<String, Object> all = new HashMap<>(settings);
    if (topic.equals("json")) {
      all.put("apicurio.registry.auto-register", false);
      all.put("apicurio.registry.find-latest", true);
      all.put("apicurio.registry.artifact.artifact-id", "json-value");
      all.put("apicurio.registry.serde.validation-enabled", false);
    }
    serializer.configure(all, false);
    RecordHeaders headers = new RecordHeaders();
    byte[] bytes = serializer.serialize(topic, headers, value);
    List<String> shown = new ArrayList<>();
    for (Header header : headers) {
      shown.add("[\"" + header.key() + "\"," + base64(header.value()) + "]");
    }
    String space = (String) settings.get("apicurio.registry.use-id");
    boolean isShort = name.endsWith("4 bytes");
    // Nothing in eight bytes says which kind of id they are.
    String kind = isShort ? "" : name.endsWith("8 bytes") ? "globalId:" : space + ":";
    String id = idOf(topic, space);
    System.out.println("{\"name\":\"Apicurio " + name + "\",\"from\":\"io.apicurio:apicurio-registry-*-serde-kafka 3.1.7\",\"writtenBy\":\"Apicurio Registry serdes 3.1.7\",\"headers\":["
        + String.join(",", shown) + "],\"value\":" + base64(bytes) + ",\"framing\":\"" + (isShort ? "confluent" : "apicurio")
        + "\",\"schemaId\":" + (isShort ? id : "\"" + kind + id + "\"") + (name.startsWith("Avro written") ? ",\"encoding\":\"avro-json\"" : "")
        + (name.equals("Protobuf without type reference, 4 bytes") ? ",\"tolerant\":true" : "")
        + (message == null ? ",\"payload\":" + base64(payload) : ",\"chosen\":{\"message\":" + message + ",\"payload\":" + base64(payload) + "}")
        + "}");
  }

  static String base64(byte[] bytes) {
    return "{\"base64\":\"" + Base64.getEncoder().encodeToString(bytes) + "\"}";
  }

  static DynamicMessage message(String type) throws Exception {
    FileDescriptorProto file = FileDescriptorProto.newBuilder().setName("order.proto").setPackage("shop").setSyntax("proto3")
        .addMessageType(messageType("Order")).addMessageType(messageType("Item")).build();
    FileDescriptor built = FileDescriptor.buildFrom(file, new FileDescriptor[0]);
    var descriptor = built.findMessageTypeByName(type);
    return DynamicMessage.newBuilder(descriptor).setField(descriptor.findFieldByName("id"), 150L).build();
  }

  static DescriptorProto messageType(String name) {
    return DescriptorProto.newBuilder().setName(name).addField(FieldDescriptorProto.newBuilder().setName("id").setNumber(1)
        .setType(FieldDescriptorProto.Type.TYPE_INT64).setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL)).build();
  }
}
