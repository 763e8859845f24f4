import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.kafka.connect.source.MongoSourceConfig;
import com.mongodb.kafka.connect.source.producer.SchemaAndValueProducer;
import com.mongodb.kafka.connect.source.producer.SchemaAndValueProducers;
import io.debezium.config.Configuration;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.mongodb.CollectionId;
import io.debezium.connector.mongodb.MongoDbCollectionSchema;
import io.debezium.connector.mongodb.MongoDbConnectorConfig;
import io.debezium.connector.mongodb.MongoDbSchema;
import io.debezium.connector.mongodb.MongoDbTaskContext;
import io.debezium.connector.mongodb.SourceInfo;
import io.debezium.data.Envelope;
import io.debezium.schema.DefaultTopicNamingStrategy;
import io.debezium.schema.SchemaNameAdjuster;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.StringConverter;
import org.bson.BsonDocument;
import org.bson.BsonDocumentReader;
import org.bson.codecs.DecoderContext;

/**
 * Prints vectors that two connectors make of the same change stream documents, those of MongoDB's documentation with a value of every type:
 * `kafka`, MongoDB's own connector, and `debezium`. See README.md beside this file.
 */
public class WriteMongoVectors {
  static final ObjectMapper JSON = new ObjectMapper();
  static final String ID = "{'$oid':'596e275826f08b2730779e1f'}";
  static final String REST = "'n':{'$numberInt':'7'},'big':{'$numberLong':'9007199254740993'},'small':{'$numberLong':'12'},'d':{'$numberDouble':'1.5'},"
      + "'dec':{'$numberDecimal':'12.340'},'at':{'$date':{'$numberLong':'1565546054692'}},'bin':{'$binary':{'base64':'AQID','subType':'00'}},"
      + "'uid':{'$binary':{'base64':'c//SZESzTGmQ6OfR38A11A==','subType':'04'}},'ok':true,'no':null,'list':[{'a':{'$numberInt':'1'}},{'a':{'$numberInt':'2'}}]";
  static final String REST_MEANS = "'n':7,'big':{'$bigint':'9007199254740993'},'small':12,'d':1.5,'dec':'12.340','at':'2019-08-11T17:54:14.692Z',"
      + "'bin':{'$bytes':'010203'},'uid':'73ffd264-44b3-4c69-90e8-e7d1dfc035d4','ok':true,'no':null,'list':[{'a':1},{'a':2}]";
  static final String ROW = "{'_id':" + ID + ",'name':'Anne'," + REST + "}";
  static final String OLD = "{'_id':" + ID + ",'name':'Ann'," + REST + "}";
  static final String ROW_MEANS = "{'_id':'596e275826f08b2730779e1f','name':'Anne'," + REST_MEANS + "}";
  static final String OLD_MEANS = "{'_id':'596e275826f08b2730779e1f','name':'Ann'," + REST_MEANS + "}";

  record Change(String op, String document, String before, String after, boolean isSnapshot) {}

  static List<Change> changes() {
    String common = "'_id':{'_data':'8266B4A2F7000000012B042C0100296E5A1004'},'clusterTime':{'$timestamp':{'t':1723115239,'i':31}},"
        + "'wallTime':{'$date':{'$numberLong':'1723115239790'}},'ns':{'db':'inv','coll':'customers'},'documentKey':{'_id':" + ID + "}";
    return List.of(
        new Change("create", "{" + common + ",'operationType':'insert','fullDocument':" + ROW + "}", null, ROW_MEANS, false),
        new Change("update", "{" + common + ",'operationType':'update','fullDocument':" + ROW + ",'fullDocumentBeforeChange':" + OLD
            + ",'updateDescription':{'updatedFields':{'name':'Anne'},'removedFields':['gone'],'truncatedArrays':[{'field':'list','newSize':{'$numberInt':'2'}}]}}",
            OLD_MEANS, ROW_MEANS, false),
        new Change("delete", "{" + common + ",'operationType':'delete','fullDocumentBeforeChange':" + OLD + "}", OLD_MEANS, null, false));
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("kafka")) {
      printKafka();
    } else {
      printDebezium();
    }
  }

  static BsonDocument bson(String text) {
    return BsonDocument.parse(text.replace('\'', '"'));
  }

  static Converter json(boolean withSchemas) {
    JsonConverter converter = new JsonConverter();
    converter.configure(Map.of("schemas.enable", String.valueOf(withSchemas)), false);
    return converter;
  }

  static Converter text() {
    StringConverter converter = new StringConverter();
    converter.configure(Map.of(), false);
    return converter;
  }

  record Way(String title, Map<String, String> settings, Converter converter, String formats, boolean hasTypes) {}

  /** What MongoDB's connector can be told to write. */
  static void printKafka() throws Exception {
    String formatters = "com.mongodb.kafka.connect.source.json.formatter.";
    List<Way> ways = List.of(
        new Way("JSON", Map.of(), text(), "none+json+mongodb", true),
        new Way("extended JSON", Map.of("output.json.formatter", formatters + "ExtendedJson"), text(), "none+json+mongodb", true),
        new Way("simplified JSON", Map.of("output.json.formatter", formatters + "SimplifiedJson"), text(), "none+json+mongodb", false),
        new Way("JSON as text in JSON", Map.of(), json(false), "none+json+mongodb", true),
        new Way("JSON as text with its schema", Map.of(), json(true), "none+connect-json+mongodb", true),
        new Way("its default schema", Map.of("output.format.value", "schema"), json(true), "none+connect-json+mongodb", true),
        new Way("an inferred schema", Map.of("output.format.value", "schema", "output.schema.infer.value", "true"), json(true),
            "none+connect-json+mongodb", false));
    for (Way way : ways) {
      Map<String, String> settings = new HashMap<>(way.settings);
      settings.put("connection.uri", "mongodb://db");
      MongoSourceConfig config = new MongoSourceConfig(settings);
      SchemaAndValueProducer keys = SchemaAndValueProducers.createKeySchemaAndValueProvider(config);
      SchemaAndValueProducer values = SchemaAndValueProducers.createValueSchemaAndValueProvider(config);
      for (Change change : changes()) {
        BsonDocument document = bson(change.document);
        SchemaAndValue key = keys.get(new BsonDocument("_id", document.get("_id")));
        SchemaAndValue value = values.get(document);
        ObjectNode line = line(change.op + ": " + way.title, "org.mongodb.kafka:mongo-kafka-connect:2.0.1", "MongoDB Kafka connector 2.0.1", way.formats,
            way.converter.fromConnectData("inv.customers", key.schema(), key.value()),
            way.converter.fromConnectData("inv.customers", value.schema(), value.value()));
        ObjectNode event = eventOf(change, way.hasTypes);
        event.putObject("source").put("connector", "mongodb").put("snapshot", false).put("tsMs", 1723115239000L);
        line.set("event", event);
        System.out.println(JSON.writeValueAsString(line));
      }
    }
  }

  static ObjectNode eventOf(Change change, boolean hasTypes) throws Exception {
    ObjectNode event = JSON.createObjectNode().put("kind", "change").put("op", change.op);
    event.putObject("table").put("database", "inv").put("name", "customers");
    event.putObject("key").put("_id", "596e275826f08b2730779e1f");
    if (hasTypes) {
      event.set("before", change.before == null ? null : JSON.readTree(change.before.replace('\'', '"')));
      event.set("after", change.after == null ? null : JSON.readTree(change.after.replace('\'', '"')));
    }
    if (change.op.equals("update")) {
      event.set("updateDescription", JSON.readTree("{\"updatedFields\":{\"name\":\"Anne\"},\"removedFields\":[\"gone\"],"
          + "\"truncatedArrays\":[{\"field\":\"list\",\"size\":2}]}"));
    }
    return event;
  }

  static ObjectNode line(String name, String from, String writtenBy, String formats, byte[] key, byte[] value) {
    ObjectNode line = JSON.createObjectNode();
    line.put("name", name).put("from", from).put("writtenBy", writtenBy).put("formats", formats).put("topic", "inv.customers");
    line.put("key", new String(key, StandardCharsets.UTF_8)).put("value", new String(value, StandardCharsets.UTF_8));
    return line;
  }

  /** Debezium's connector: its own schemas, documents and source block. */
  static void printDebezium() throws Exception {
    Configuration settings = Configuration.from(Map.of("topic.prefix", "srv", "mongodb.connection.string", "mongodb://db", "connector.class",
        "io.debezium.connector.mongodb.MongoDbConnector"));
    MongoDbConnectorConfig config = new MongoDbConnectorConfig(settings);
    CollectionId id = new CollectionId("inv", "customers");
    SourceInfo source = new SourceInfo(config);
    MongoDbSchema schema = new MongoDbSchema(config, new MongoDbTaskContext(settings), (io.debezium.spi.topic.TopicNamingStrategy) DefaultTopicNamingStrategy.create(config),
        source.schema(), SchemaNameAdjuster.NO_OP);
    MongoDbCollectionSchema collection = (MongoDbCollectionSchema) schema.schemaFor(id);
    List<Change> all = new ArrayList<>(changes());
    all.add(new Change("read", all.get(0).document, null, ROW_MEANS, true));
    for (Change change : all) {
      ChangeStreamDocument<BsonDocument> document = ChangeStreamDocument.createCodec(BsonDocument.class, MongoClientSettings.getDefaultCodecRegistry())
          .decode(new BsonDocumentReader(bson(change.document)), DecoderContext.builder().build());
      source.changeStreamEvent(document);
      if (change.isSnapshot) {
        source.startInitialSnapshot();
        source.setSnapshot(SnapshotRecord.TRUE);
        source.readEvent(id, 1723115239790L);
      }
      Envelope.Operation operation = Envelope.Operation.valueOf(change.op.toUpperCase());
      Struct value = change.isSnapshot ? collection.valueFromDocumentSnapshot(document.getFullDocument(), operation)
          : collection.valueFromDocumentChangeStream(document, operation);
      value.put("source", source.struct()).put("op", operation.code()).put("ts_ms", 1723115240000L);
      for (boolean withSchemas : new boolean[] {false, true}) {
        Converter converter = json(withSchemas);
        Struct key = collection.keyFromDocument(document.getDocumentKey());
        ObjectNode line = line("MongoDB: " + change.op + (withSchemas ? ", with its schema" : ""), "io.debezium:debezium-connector-mongodb:3.5.0.Final",
            "Debezium 3.5.0.Final", "none+" + (withSchemas ? "connect-json" : "json") + "+debezium",
            converter.fromConnectData("srv.inv.customers", key.schema(), key), converter.fromConnectData("srv.inv.customers", value.schema(), value));
        line.put("topic", "srv.inv.customers");
        ObjectNode event = eventOf(change, true);
        event.set("key", JSON.createObjectNode().put("id", "596e275826f08b2730779e1f"));
        event.put("tsMs", 1723115240000L);
        ObjectNode means = event.putObject("source").put("connector", "mongodb").put("name", "srv").put("version", "3.5.0.Final").put("tsMs", 1723115239790L);
        if (change.isSnapshot) {
          means.put("snapshot", "true");
        } else {
          means.put("snapshot", false);
        }
        means.putObject("position").put("ord", 31).putNull("sequence").putNull("lsid").putNull("txnNumber").put("wallTime", 1723115239790L);
        line.set("event", event);
        System.out.println(JSON.writeValueAsString(line));
      }
    }
  }
}
