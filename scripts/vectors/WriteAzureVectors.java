import com.azure.core.credential.AccessToken;
import com.azure.core.http.HttpClient;
import com.azure.core.http.HttpHeaders;
import com.azure.core.http.HttpRequest;
import com.azure.core.http.HttpResponse;
import com.azure.data.schemaregistry.SchemaRegistryAsyncClient;
import com.azure.data.schemaregistry.SchemaRegistryClientBuilder;
import com.azure.data.schemaregistry.apacheavro.SchemaRegistryApacheAvroSerializerBuilder;
import com.microsoft.azure.schemaregistry.kafka.avro.KafkaAvroSerializer;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.HexFormat;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Prints test/vectors/framing/azure.ndjson, by Azure's serializer for Kafka: see README.md beside this file. */
public class WriteAzureVectors {
  static final String ID = "3b26ba0e5bdd4b1a8ee9d5d0c4f0a1b2";
  static final Schema ORDER = new Schema.Parser().parse("{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"shop\",\"fields\":["
      + "{\"name\":\"id\",\"type\":\"long\"},{\"name\":\"note\",\"type\":[\"null\",\"string\"],\"default\":null}]}");

  public static void main(String[] args) throws Exception {
    SchemaRegistryAsyncClient client = new SchemaRegistryClientBuilder().fullyQualifiedNamespace("https://registry.example")
        .credential(request -> Mono.just(new AccessToken("t", OffsetDateTime.MAX))).httpClient(new Registry()).buildAsyncClient();
    KafkaAvroSerializer<GenericRecord> serializer = withClient(new KafkaAvroSerializer<>(), client);
    for (String note : new String[] {"h\u00f6her", null}) {
      GenericRecord order = new GenericData.Record(ORDER);
      order.put("id", 9007199254740992L);
      order.put("note", note);
      String name = "Azure Avro " + (note == null ? "without" : "with") + " a note";
      RecordHeaders headers = new RecordHeaders();
      byte[] value = serializer.serialize("orders", headers, order);
      String contentType = new String(headers.lastHeader("content-type").value(), StandardCharsets.UTF_8);
      line(name, "\"headers\":[[\"content-type\",{\"text\":\"" + contentType + "\"}]],", value);
    }
  }

  /** configure() would build the same one, with a client of its own that asks the network. */
  static <T> T withClient(T serializer, SchemaRegistryAsyncClient client) throws Exception {
    Field field = serializer.getClass().getDeclaredField("serializer");
    field.setAccessible(true);
    field.set(serializer, new SchemaRegistryApacheAvroSerializerBuilder().schemaRegistryClient(client).schemaGroup("vectors")
        .autoRegisterSchemas(true).buildSerializer());
    return serializer;
  }

  static void line(String name, String headers, byte[] value) {
    String hex = HexFormat.of().formatHex(value);
    System.out.println("{\"name\":\"" + name + "\",\"from\":\"com.microsoft.azure:azure-schemaregistry-kafka-avro 1.1.1\",\"writtenBy\":"
        + "\"Azure's serializer for Kafka 1.1.1\"," + headers + "\"value\":{\"hex\":\"" + hex + "\"},\"framing\":\"azure\",\"schemaId\":"
        + "\"azure:" + ID + "\",\"payload\":{\"hex\":\"" + hex + "\"}}");
  }

  /** Tells every schema the same id. */
  static class Registry implements HttpClient {
    @Override
    public Mono<HttpResponse> send(HttpRequest request) {
      return Mono.just(new Answer(request));
    }
  }

  static class Answer extends HttpResponse {
    final HttpHeaders headers = new HttpHeaders(Map.of("Schema-Id", ID, "Schema-Group-Name", "vectors", "Schema-Name", ORDER.getFullName(),
        "Schema-Version", "1", "Content-Type", "application/json; serialization=Avro"));

    Answer(HttpRequest request) {
      super(request);
    }

    @Override
    public int getStatusCode() {
      return 204;
    }

    @Override
    public String getHeaderValue(String name) {
      return headers.getValue(name);
    }

    @Override
    public HttpHeaders getHeaders() {
      return headers;
    }

    @Override
    public Flux<ByteBuffer> getBody() {
      return Flux.empty();
    }

    @Override
    public Mono<byte[]> getBodyAsByteArray() {
      return Mono.empty();
    }

    @Override
    public Mono<String> getBodyAsString() {
      return Mono.empty();
    }

    @Override
    public Mono<String> getBodyAsString(Charset charset) {
      return Mono.empty();
    }
  }
}
